package grammar

import "fmt"

// UsageError is a command line that cannot be understood.
type UsageError struct {
	Command string // "" for the program itself
	Text    string
}

func (e *UsageError) Error() string {
	if e.Command == "" {
		return e.Text
	}
	return e.Command + ": " + e.Text
}

func usagef(command, format string, args ...any) error {
	return &UsageError{command, fmt.Sprintf(format, args...)}
}
