package startest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/starlark/interp"
)

func (x *test) eq(c call) (starlark.Value, error) {
	got, want, msg, same, err := compare(c)
	if err != nil || same {
		return starlark.True, err
	}
	text, err := difference(c.name, got, want)
	if err != nil {
		return nil, err
	}
	return x.failed(c, msg, text)
}

func (x *test) ne(c call) (starlark.Value, error) {
	got, _, msg, same, err := compare(c)
	if err != nil || !same {
		return starlark.True, err
	}
	return x.failedf(c, msg, "got %s, want any other value", got)
}

func compare(c call) (got, want starlark.Value, msg string, same bool, err error) {
	if err = c.unpack("got", &got, "want", &want, "msg?", &msg); err != nil {
		return
	}
	if err = interp.CheckCompare(c.name, got, want); err != nil {
		return
	}
	same, err = starlark.Equal(got, want)
	return
}

// truth returns t.true or t.false.
func truth(want bool) method {
	return func(x *test, c call) (starlark.Value, error) {
		var v starlark.Value
		var msg string
		if err := c.unpack("cond", &v, "msg?", &msg); err != nil {
			return nil, err
		}
		if bool(v.Truth()) == want {
			return starlark.True, nil
		}
		return x.failedf(c, msg, "got %s, want a %t value", v, want)
	}
}

// within returns t.contains or t.lacks.
func within(want bool) method {
	return func(x *test, c call) (starlark.Value, error) {
		var where, what starlark.Value
		var msg string
		if err := c.unpack("where", &where, "what", &what, "msg?", &msg); err != nil {
			return nil, err
		}
		if err := interp.CheckCompare(c.name, where); err != nil {
			return nil, err
		}
		found, err := starlark.Binary(syntax.IN, what, where)
		if err != nil {
			return nil, err
		}
		if bool(found.Truth()) == want {
			return starlark.True, nil
		}
		verb := "does not contain"
		if !want {
			verb = "contains"
		}
		return x.failedf(c, msg, "%s %s %s", where, verb, what)
	}
}

func (x *test) matches(c call) (starlark.Value, error) {
	var text, pattern, msg string
	if err := c.unpack("text", &text, "pattern", &pattern, "msg?", &msg); err != nil {
		return nil, err
	}
	re, err := x.exec.runner.pattern(pattern)
	if err != nil || re.MatchString(text) {
		return starlark.True, err
	}
	return x.failedf(c, msg, "%s does not match %q", starlark.String(text), pattern)
}

// fails is t.fails(fn, pattern, *args, **kwargs). It returns the error message, or None if the
// test fails.
func (x *test) fails(c call) (starlark.Value, error) {
	if len(c.args) < 2 {
		return nil, errors.New("want a function and a pattern: t.fails(fn, pattern, *args, **kwargs)")
	}
	fn, ok := c.args[0].(starlark.Callable)
	if !ok {
		return nil, fmt.Errorf("%s is not a function, got %s",
			interp.Show(c.args[0]), c.args[0].Type())
	}
	pattern, ok := starlark.AsString(c.args[1])
	if !ok {
		return nil, fmt.Errorf("the pattern is a %s, want a string", c.args[1].Type())
	}
	re, err := x.exec.runner.pattern(pattern)
	if err != nil {
		return nil, err
	}
	v, err := starlark.Call(c.thread, fn, c.args[2:], c.kwargs)
	switch {
	case err == nil:
		_, err = x.failedf(c, "", "%s did not fail: it returned %s, want an error that matches %q",
			fn.Name(), v, pattern)
		return starlark.None, err
	case interp.IsStopped(err), errors.Is(err, errStop), errors.Is(err, errSkip):
		return nil, err
	}
	msg := x.exec.file.interp.Explain(err).Msg
	if !re.MatchString(msg) {
		_, err := x.failedf(c, "", "%s failed with %q, which does not match %q",
			fn.Name(), msg, pattern)
		return starlark.None, err
	}
	return starlark.String(msg), nil
}

// pattern returns a compiled regular expression, from a cache.
func (r *Runner) pattern(text string) (*regexp.Regexp, error) {
	if re, ok := r.patterns.Load(text); ok {
		return re.(*regexp.Regexp), nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a valid regular expression (RE2): %w", text, err)
	}
	r.patterns.Store(text, re)
	return re, nil
}

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
