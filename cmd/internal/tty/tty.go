package tty

import (
	"os"

	"golang.org/x/term"

	"torchx/runtime/backend"
)

// DetachedSize is what a terminal has that nobody looks at.
var DetachedSize = backend.TerminalSize{Rows: 24, Cols: 80}

// FirstTerminal returns the first of some streams that is a terminal.
func FirstTerminal(streams ...any) *os.File {
	for _, s := range streams {
		if f, ok := s.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return f
		}
	}
	return nil
}

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
