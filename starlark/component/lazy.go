package component

import (
	"regexp"
	"sync"
)

// lazily compiles a pattern when it is first used: those with classes of Unicode
// would add most of a millisecond to the start of every command.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
