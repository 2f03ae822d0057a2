package grammar

import "fmt"

// UsageError reports a command line that cannot be understood.
type UsageError struct {
	Command   string // "" for the program itself
	Text      string
	HasRemedy bool // Text names what to type instead
}

func (e *UsageError) Error() string {
	if e.Command == "" {
		return e.Text
	}
	return e.Command + ": " + e.Text
}

func usagef(command, format string, args ...any) error {
	return &UsageError{Command: command, Text: fmt.Sprintf(format, args...)}
}
