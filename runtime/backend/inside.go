package backend

import (
	"context"
	"io"
	"io/fs"
	"net"
	"os"

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
