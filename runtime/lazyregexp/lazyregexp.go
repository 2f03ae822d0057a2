// Package lazyregexp compiles patterns on first use: compiling all of them would add most of a
// millisecond to the start of every command.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that compiles the pattern once. It panics if the pattern is invalid.
func New(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
