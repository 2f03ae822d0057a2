package config

import (
	"fmt"
	"io"
	"strings"
)

// Section is a section to write: its name and its keys with their values.
type Section struct {
	Name   string
	Values [][2]string
}

// Write writes sections in the format that Load reads: `key = value`, with %% for % and indented
// continuation lines.
func Write(w io.Writer, sections []Section) error {
	var b strings.Builder
	for _, s := range sections {
		b.WriteString("[" + s.Name + "]\n")
		for _, kv := range s.Values {
			text := strings.ReplaceAll(escape(kv[1]), "\n", "\n\t")
			b.WriteString(strings.TrimRight(kv[0]+" = "+text, " \t\n") + "\n")
		}
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return nil
}
