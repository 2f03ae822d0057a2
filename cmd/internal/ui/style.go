package ui

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// DefaultWidth is the number of columns of help and tables if the terminal's width is not known.
const DefaultWidth = 80

// Style colors text for one output; the zero value uses no colors.
type Style struct{ Color bool }

// ANSI colors that every terminal has.
const (
	AnsiRed     = "\x1b[31m"
	AnsiGreen   = "\x1b[32m"
	AnsiYellow  = "\x1b[33m"
	AnsiBlue    = "\x1b[34m"
	AnsiMagenta = "\x1b[35m"
	AnsiCyan    = "\x1b[36m"
	AnsiBold    = "\x1b[1m"
	AnsiDim     = "\x1b[2m"
	AnsiReset   = "\x1b[0m"
)

// Paint returns text in a color, or unchanged without colors.
func (s Style) Paint(code, text string) string {
	if !s.Color || code == "" || text == "" {
		return text
	}
	return code + text + AnsiReset
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// ScreenWidth returns the width of a terminal in columns, 0 if w is not a terminal.
func ScreenWidth(w io.Writer) int {
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

// TerminalWidth returns the width of w in columns, at most 100: longer lines read badly.
func TerminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return DefaultWidth
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 40 {
		return DefaultWidth
	}
	return min(width, 100)
}

// PaintDiff colors the lines of a unified diff.
func (c *Console) PaintDiff(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		code := ""
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			code = AnsiBold
		case strings.HasPrefix(line, "+"):
			code = AnsiGreen
		case strings.HasPrefix(line, "-"):
			code = AnsiRed
		case strings.HasPrefix(line, "@@"):
			code = AnsiDim
		}
		b.WriteString(c.OutStyle.Paint(code, strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}
