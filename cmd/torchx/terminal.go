package main

import (
	"io"
	"os"

	"golang.org/x/term"
)

// defaultWidth is the number of columns that help and tables are made for when
// the terminal does not tell its own.
const defaultWidth = 80

// style colours text for one output; the zero value leaves it plain.
type style struct{ color bool }

// ANSI colours, the same eight that every terminal has.
const (
	ansiRed    = "\x1b[31m"
	ansiGreen  = "\x1b[32m"
	ansiYellow = "\x1b[33m"
	ansiBlue   = "\x1b[34m"
	ansiBold   = "\x1b[1m"
	ansiDim    = "\x1b[2m"
	ansiReset  = "\x1b[0m"
)

func (s style) paint(code, text string) string {
	if !s.color || code == "" || text == "" {
		return text
	}
	return code + text + ansiReset
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// screenWidth is the width of a terminal in columns, 0 if w is none.
func screenWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// terminalWidth is the width of w in columns, at most 100: longer lines read badly.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return defaultWidth
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 40 {
		return defaultWidth
	}
	return min(width, 100)
}
