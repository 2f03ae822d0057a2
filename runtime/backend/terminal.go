package backend

import (
	"context"
	"io"
)

// TerminalSize is the size of a terminal in characters.
type TerminalSize struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

// TerminalOpener is a Backend that runs an app of one replica on a pseudo-terminal if
// its plan sets TTY.
type TerminalOpener interface {
	// OpenTerminal connects to the terminal of an app; several clients may be
	// connected. Errors: ErrNotFound, ErrUnsupported if the app has no terminal.
	OpenTerminal(ctx context.Context, id string, o TerminalOptions) (Terminal, error)
}

// TerminalOptions says which of the output a client gets.
type TerminalOptions struct {
	// All begins with the first byte of the first attempt.
	All bool
	// Tail is, without All, how many of the existing bytes come first, less what is cut
	// to begin at the start of a line.
	Tail int64
	// Lag, if not 0, is how many bytes a client may be behind; one that is further behind
	// continues with the last Tail bytes.
	Lag int64
}

// Terminal is a connection to the pseudo-terminal of one app. One goroutine may
// call Next while others call the other methods.
type Terminal interface {
	// Next waits for output, across attempts; io.EOF after the end of the app.
	Next(ctx context.Context) (TerminalOutput, error)
	// Write forwards input and blocks while the replica does not read it. It fails
	// when the app has ended or the connection is closed.
	io.Writer
	// CloseInput ends the input: the replica reads EOF.
	CloseInput() error
	// Resize sets the size; of several clients the last one wins.
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
