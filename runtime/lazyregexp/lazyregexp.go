// Package lazyregexp compiles patterns when they are first used: all of them together
// would add most of a millisecond to the start of every command.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns what compiles the pattern once, and panics if it is invalid.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
