package backend

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os"
	"time"

	"torchx/runtime/spec"
)

// Executor runs commands inside running replicas.
type Executor interface {
	// Exec runs a command with the environment, in the folder and on the file system of a
	// running replica. It returns the exit code (128+n for signal n) once the command has ended
	// and its output is written; if ctx ends before, the command may go on. Errors: ErrNotFound,
	// ErrNotRunning, ErrUnavailable, *StartError if there is no such program.
	Exec(ctx context.Context, id string, r spec.Replica, c Command) (code int, err error)
}

// Command is a command to run inside a replica.
type Command struct {
	Args           []string
	Stdin          io.Reader // nil: no input; with Terminal it types its own EOF
	Stdout, Stderr io.Writer // with Terminal all output goes to Stdout
	// Terminal is the size of the pseudo-terminal to run on; nil: none.
	Terminal *TerminalSize
	Resizes  <-chan TerminalSize // later sizes; may be nil
	Signals  <-chan os.Signal    // signals to forward; may be nil
}

// PortDialer connects to ports of running replicas.
type PortDialer interface {
	// DialPort connects to a TCP port of a replica. Errors: ErrNotFound, ErrNotRunning,
	// ErrUnavailable, fs.ErrPermission if the user may not connect, and one that wraps
	// syscall.ECONNREFUSED if nothing listens, where that is known before the connection is used.
	DialPort(ctx context.Context, id string, r spec.Replica, port int) (net.Conn, error)
	// SharesPorts reports whether the ports of replicas are ports of this machine.
	SharesPorts() bool
}

// FileCopier copies files from and to running replicas.
type FileCopier interface {
	// StatFile returns the type of a file of a replica. A relative path begins in the replica's
	// folder. Errors: fs.ErrNotExist, ErrNotFound, ErrNotRunning, ErrUnavailable.
	StatFile(ctx context.Context, id string, r spec.Replica, path string) (fs.FileMode, error)
	// ReadFiles writes a file, or a folder with its contents, to w as a tar archive. Names in it
	// begin with the last element of path. The archive comes from the replica: it may be malicious.
	ReadFiles(ctx context.Context, id string, r spec.Replica, path string, w io.Writer) error
	// WriteFiles extracts a tar archive into an existing folder.
	WriteFiles(ctx context.Context, id string, r spec.Replica, dir string, archive io.Reader) error
}

// EndOfFile is the character by which a terminal ends its input.
const EndOfFile = 0x04

// MinEOFPause and MaxEOFPause bound the pause between two EndOfFile characters, which doubles: a
// terminal drops one that arrives while a program changes its mode, as REPLs do around each line.
const (
	MinEOFPause = 50 * time.Millisecond
	MaxEOFPause = 2 * time.Second
)

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// TerminalOpener is for apps of one replica, which run on a pseudo-terminal if their plan sets TTY.
type TerminalOpener interface {
	// OpenTerminal connects to the terminal of an app; several clients may connect.
	// Errors: ErrNotFound, ErrUnsupported if the app has no terminal.
	OpenTerminal(ctx context.Context, id string, o TerminalOptions) (Terminal, error)
}

// TerminalOptions selects the output that a client gets.
type TerminalOptions struct {
	// All starts with the first byte of the first attempt.
	All bool
	// Tail is, without All, how many existing bytes come first, reduced to start with a
	// whole line.
	Tail int64
	// Lag, if not 0, is how many bytes a client may be behind; beyond that it continues
	// with the last Tail bytes.
	Lag int64
}

// Terminal is a connection to the pseudo-terminal of one app. One goroutine may call Next while
// others call the other methods.
type Terminal interface {
	// Next waits for output, across attempts; io.EOF after the end of the app.
	Next(ctx context.Context) (TerminalOutput, error)
	// Write forwards input and blocks until the replica reads it. It fails when the app
	// has ended or the connection is closed.
	io.Writer
	// CloseInput ends the input: the replica reads EOF.
	CloseInput() error
	// Resize sets the size; the last of several clients wins.
	Resize(s TerminalSize) error
	// Close ends the connection; the app continues.
	io.Closer
}

// TerminalOutput is output of a replica on its terminal.
type TerminalOutput struct {
	Data    []byte // as written, valid until the next call
	Attempt int
	Skipped int64 // bytes before Data that were skipped, see TerminalOptions.Lag
}
