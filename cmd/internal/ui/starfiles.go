package ui

import (
	"strings"
)

// PaintDiff colours the lines of a unified diff.
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
