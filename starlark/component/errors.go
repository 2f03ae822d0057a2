package component

import (
	"errors"
	"fmt"
)

// ErrHelp is returned by Component.Build when the arguments ask for help.
var ErrHelp = errors.New("help requested")

// UsageError says that the arguments of a component are wrong: the caller has
// to type something else (exit code 2).
type UsageError struct {
	Component string // as the user named it
	Text      string // what is wrong, one line
}

// Error returns one line that names the component and where to look up its arguments.
func (e *UsageError) Error() string {
	return fmt.Sprintf("torchx run %s: %s (see `torchx run %s --help`)", e.Component, e.Text, e.Component)
}
