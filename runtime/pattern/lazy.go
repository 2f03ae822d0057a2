package pattern

import (
	"regexp"
	"sync"
)

// Lazy returns a function that compiles an expression on first use: compiling all of them would add
// most of a millisecond to the start of every command. It panics if the expression is invalid.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
