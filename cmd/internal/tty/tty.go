// Package tty connects the user's terminal with an app's terminal (RunSession). It has the
// parts of that: terminal sizes, detach keys, screen modes that a program leaves behind, and
// writers that add carriage returns or block.
package tty

import (
	"io"
	"os"

	"golang.org/x/term"

	"torchx/runtime/backend"
)

// DetachedSize is the size of an app's terminal without a client.
var DetachedSize = backend.TerminalSize{Rows: 24, Cols: 80}

// FirstTerminal returns the first stream that is a terminal, nil if none is.
func FirstTerminal(streams ...any) *os.File {
	for _, s := range streams {
		if f, ok := s.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}

// SizeOf returns the size of a terminal, DetachedSize if f is nil or the size is unknown.
func SizeOf(window *os.File) backend.TerminalSize {
	if window == nil {
		return DetachedSize
	}
	cols, rows, err := term.GetSize(int(window.Fd()))
	if err != nil || cols <= 0 || rows <= 0 {
		return DetachedSize
	}
	return backend.TerminalSize{Rows: uint16(rows), Cols: uint16(cols)}
}

// IsTerminalInput reports whether r is a terminal.
func IsTerminalInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
