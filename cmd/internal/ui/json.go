package ui

import (
	"io"
	"time"
)

// NullString is a text that is null in JSON if it is empty.
type NullString string

// MarshalJSON implements json.Marshaler.
func (s NullString) MarshalJSON() ([]byte, error) {
	if s == "" {
		return []byte("null"), nil
	}
	return EncodeJSON(string(s))
}

// UTC returns a time as JSON output has it, in UTC; nil stays nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	utc := t.UTC()
	return &utc
}

// ArrayWriter writes a JSON array whose elements are made one after another, so that only one is
// in memory.
type ArrayWriter struct {
	W     io.Writer
	begun bool
}

// Add writes the next element, or its beginning. Its further lines are indented by two spaces.
func (a *ArrayWriter) Add(element []byte) error {
	separator := ",\n  "
	if !a.begun {
		separator, a.begun = "[\n  ", true
	}
	_, err := a.W.Write(append([]byte(separator), element...))
	return err
}

// End completes the array.
func (a *ArrayWriter) End() error {
	end := "\n]\n"
	if !a.begun {
		end = "[]\n"
	}
	_, err := io.WriteString(a.W, end)
	return err
}
