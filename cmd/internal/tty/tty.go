// Package tty has what sitting at a terminal needs: its size, keys that detach, the
// screen modes that a program leaves behind, and writers that add carriage returns or
// hold output back.
package tty

import (
	"io"
	"os"

	"golang.org/x/term"

	"torchx/runtime/backend"
)

// DetachedSize is the size of an app's terminal that is not shown on another.
var DetachedSize = backend.TerminalSize{Rows: 24, Cols: 80}

// FirstTerminal returns the first of some streams that is a terminal, nil for none.
func FirstTerminal(streams ...any) *os.File {
	for _, s := range streams {
		if f, ok := s.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}

// SizeOf returns the size of a terminal, DetachedSize for nil or if it is not known.
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

// IsTerminalInput reports whether r is a terminal to read answers from.
func IsTerminalInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
