package interp

import (
	"go.starlark.net/starlark"
)

// CheckCompare refuses values that could not be compared in a bounded time, for
// functions in Go that compare what they are given. The error is a *LimitError.
func CheckCompare(what string, values ...starlark.Value) error {
	for _, v := range values {
		if err := checkComparable(what, v); err != nil {
			return err
		}
	}
	return nil
}

// CheckPrint refuses values whose text would be too long to make. The error is a
// *LimitError.
func CheckPrint(what string, values ...starlark.Value) error {
	n, err := printedSize(what, values...)
	if err == nil && n > maxValue {
		err = tooBig(what, n)
	}
	return err
}

// Stopped holds for the error of a call that ended because its evaluation was
// stopped, at a limit or from outside: the caller must end, too.
func Stopped(err error) bool { return cancelled(err) }

// Explain makes the *Error of a call that a function in Go made itself.
func (i *Interp) Explain(err error) *Error { return i.describe(err) }
