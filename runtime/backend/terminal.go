package backend

import (
	"context"
	"io"
	"time"
)

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
