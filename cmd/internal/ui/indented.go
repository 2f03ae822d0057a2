package ui

import (
	"bytes"
	"io"
)

// Indented writes lines to W, indented by two columns. Title is written before the first line.
type Indented struct {
	W     io.Writer
	Title string
	begun bool
	open  bool // the last line has no newline
}

func (i *Indented) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var b bytes.Buffer
	if !i.begun {
		b.WriteString(i.Title)
		i.begun = true
	}
	for line := range bytes.Lines(p) {
		if !i.open {
			b.WriteString("  ")
		}
		b.Write(line)
		i.open = line[len(line)-1] != '\n'
	}
	if _, err := i.W.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// End writes the newline that the last line lacks.
func (i *Indented) End() {
	if i.open {
		_, _ = io.WriteString(i.W, "\n") // as for all messages
	}
}
