package main

import (
	"bytes"
	"io"
)

// indented writes lines to w, each two columns in, after a title that is
// written with the first of them.
type indented struct {
	w     io.Writer
	title string
	begun bool
	open  bool // the last line has no newline yet
}

func (i *indented) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	var b bytes.Buffer
	if !i.begun {
		b.WriteString(i.title)
		i.begun = true
	}
	for line := range bytes.Lines(p) {
		if !i.open {
			b.WriteString("  ")
		}
		b.Write(line)
		i.open = line[len(line)-1] != '\n'
	}
	if _, err := i.w.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end ends a last line that lacks its newline.
func (i *indented) end() {
	if i.open {
		_, _ = io.WriteString(i.w, "\n") // as for all messages
	}
}
