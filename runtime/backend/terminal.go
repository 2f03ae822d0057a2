package backend

import (
	"context"
	"io"
)

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct{ Rows, Cols uint16 }

// Terminals is a Backend that can run an app of one replica on a pseudo-terminal:
// it does for a plan whose TTY is set.
type Terminals interface {
	// OpenTerminal connects to the terminal of an app; several clients may be
	// connected. Errors: ErrNotFound, ErrUnsupported if the app has no terminal.
	OpenTerminal(ctx context.Context, id string, o TerminalOptions) (Terminal, error)
}

// TerminalOptions says which of the output a client gets.
type TerminalOptions struct {
	// All begins with the first byte of the first attempt.
	All bool
	// Tail, where not All is shown, is how many of the bytes that are there come first, less
	// what is needed to begin at the start of a line.
	Tail int64
	// Lag, if not 0, is how many bytes a client may be behind: one that is further
	// goes on with the last Tail bytes, since nobody can look at so much.
	Lag int64
}

// Terminal is a connection to the pseudo-terminal of one app. One goroutine may
// call Next while others call the other methods.
type Terminal interface {
	// Next waits for output, across attempts; io.EOF after the end of the app.
	Next(ctx context.Context) (TerminalOutput, error)
	// Write passes input on and waits where the replica does not take it. It fails
	// when the app has ended or the connection is closed.
	io.Writer
	// CloseInput says that no more input comes: the replica reads an end of file.
	CloseInput() error
	// Resize sets the size; that of the client who sets it last holds.
	Resize(s TerminalSize) error
	// Close ends the connection; the app goes on.
	io.Closer
}

// TerminalOutput is what a replica wrote to its terminal.
type TerminalOutput struct {
	Data    []byte // as written, valid until the next call
	Attempt int
	Skipped int64 // bytes before Data that were left out, see TerminalOptions.Lag
}
