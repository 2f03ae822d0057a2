package startest

import (
	"fmt"
	"regexp"
	"strings"
)

// A matcher selects tests by name, level by level: "x/y" matches subtests y of tests x. The zero
// value matches every test.
type matcher []*regexp.Regexp

// newMatcher parses a pattern of `go test -run`: unanchored regular expressions, separated by
// slashes.
func newMatcher(flag, pattern string) (matcher, error) {
	var m matcher
	if pattern == "" {
		return m, nil
	}
	for _, part := range splitPattern(pattern) {
		re, err := regexp.Compile(part)
		if err != nil {
			return nil, fmt.Errorf("-%s: %q is not a valid regular expression: %w", flag, part, err)
		}
		m = append(m, re)
	}
	return m, nil
}

// CheckPattern validates a pattern of Options; flag is its name in the error.
func CheckPattern(flag, pattern string) error {
	_, err := newMatcher(flag, pattern)
	return err
}

// splitPattern splits at slashes that are not within brackets, like the go command.
func splitPattern(s string) []string {
	var parts []string
	square, round := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '[':
			square++
		case ']':
			square = max(square-1, 0)
		case '(':
			if square == 0 {
				round++
			}
		case ')':
			if square == 0 {
				round--
			}
		case '\\':
			i++
		case '/':
			if square == 0 && round == 0 {
				parts = append(parts, s[:i])
				s, i = s[i+1:], -1
			}
		}
	}
	return append(parts, s)
}

// matchesPrefix reports whether a test, or one of its subtests, may match.
func (m matcher) matchesPrefix(name string) bool {
	for i, part := range strings.Split(name, "/") {
		if i < len(m) && !m[i].MatchString(part) {
			return false
		}
	}
	return true
}

// matchesAll reports whether the test itself matches.
func (m matcher) matchesAll(name string) bool {
	return len(m) > 0 && strings.Count(name, "/")+1 >= len(m) && m.matchesPrefix(name)
}

// selection combines -run and -skip.
type selection struct{ run, skip matcher }

func (c selection) selects(name string) bool {
	return c.run.matchesPrefix(name) && !c.skip.matchesAll(name)
}

func newSelection(o Options) (selection, error) {
	run, err := newMatcher("run", o.Run)
	if err != nil {
		return selection{}, err
	}
	skip, err := newMatcher("skip", o.Skip)
	return selection{run, skip}, err
}
