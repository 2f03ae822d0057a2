package startest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"torchx/starlark/interp"
)

// Errors that end a test.
var (
	errStop = errors.New("the test has failed")
	errSkip = errors.New("the test is skipped")
)

// A test is one run of a test or subtest: the value t.
type test struct {
	exec   *execution
	result Result
	began  time.Time
	names  map[string]int // the number of subtests by name
}

// An execution is one run of a test with all its subtests, on one thread.
type execution struct {
	runner  *Runner
	file    *file
	inner   *test             // the innermost running test, which receives print()
	env     map[string]string // variables for torchx.getenv
	written int               // bytes of output, see maxOutput
}

var _ starlark.HasAttrs = (*test)(nil)

func (x *test) String() string        { return "<test " + x.result.Name + ">" }
func (x *test) Type() string          { return "test" }
func (x *test) Freeze()               {} // t stays mutable
func (x *test) Truth() starlark.Bool  { return true }
func (x *test) Hash() (uint32, error) { return 0, errors.New("a test cannot be a key") }

type method = func(x *test, c call) (starlark.Value, error)

type call struct {
	thread *starlark.Thread
	name   string // "t.eq"
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

// unpack reads the arguments like starlark.UnpackArgs.
func (c call) unpack(pairs ...any) error {
	return starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...)
}

// methods returns t's functions by name.
func methods() map[string]method {
	return map[string]method{
		"eq": (*test).eq, "ne": (*test).ne, "true": truth(true), "false": truth(false),
		"contains": within(true), "lacks": within(false), "matches": (*test).matches, "fails": (*test).fails,
		"error": (*test).error, "fatal": (*test).fatal, "log": (*test).log, "skip": (*test).skip,
		"run": (*test).run, "setenv": (*test).setenv, "app": (*test).app, "plan": (*test).plan, "golden": (*test).golden,
	}
}

// AttrNames lists the attributes of t.
func (x *test) AttrNames() []string {
	names := append(slices.Collect(maps.Keys(methods())), "name")
	slices.Sort(names)
	return names
}

// Attr returns t.name, or a method.
func (x *test) Attr(name string) (starlark.Value, error) {
	if name == "name" {
		return starlark.String(x.result.Name), nil
	}
	m := methods()[name]
	if m == nil {
		return nil, nil
	}
	full := "t." + name
	return starlark.NewBuiltin(full, func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return m(x, call{thread, full, args, kwargs})
	}), nil
}

// failed fails the test, with the position of the call. The test continues.
func (x *test) failed(c call, msg, text string) (starlark.Value, error) {
	if msg != "" {
		text = msg + ": " + text
	}
	x.result.Status = Fail
	x.logAt(c, text)
	return starlark.False, nil
}

// failedf is failed with a format; Starlark values among args are shortened.
func (x *test) failedf(c call, msg, format string, args ...any) (starlark.Value, error) {
	for i, a := range args {
		v, ok := a.(starlark.Value)
		if !ok {
			continue
		}
		text, err := short(c.name, v)
		if err != nil {
			return nil, err
		}
		args[i] = text
	}
	return x.failed(c, msg, fmt.Sprintf(format, args...))
}

// logAt adds output with the position of the call; further lines are indented.
func (x *test) logAt(c call, text string) {
	position := ""
	if c.thread.CallStackDepth() > 1 {
		pos := c.thread.CallFrame(1).Pos
		position = fmt.Sprintf("%s:%d: ", pos.Filename(), pos.Line)
	}
	x.output(position + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    "))
}

// maxOutput bounds the output of a test and its subtests in bytes, which is kept in memory.
const maxOutput = 1 << 20

// output adds text to the output of the test. Above maxOutput it adds one note and drops the rest.
func (x *test) output(text string) (kept bool) {
	e := x.exec
	if e.written > maxOutput {
		return false
	}
	e.written += len(text) + 1
	kept = e.written <= maxOutput
	if !kept {
		text = "… more output than 1 MiB"
	}
	x.result.Output = append(x.result.Output, text)
	return kept
}

func (x *test) log(c call) (starlark.Value, error) {
	if len(c.kwargs) > 0 {
		return nil, errors.New("named arguments are not supported")
	}
	words := make([]string, len(c.args))
	for i, a := range c.args {
		text, err := textOf(c.name, a)
		if err != nil {
			return nil, err
		}
		words[i] = text
	}
	x.logAt(c, strings.Join(words, " "))
	return starlark.None, nil
}

// textOf returns a value as str() formats it.
func textOf(what string, v starlark.Value) (string, error) {
	if s, ok := starlark.AsString(v); ok {
		return s, nil
	}
	if err := interp.CheckPrint(what, v); err != nil {
		return "", err
	}
	return v.String(), nil
}

func (x *test) error(c call) (starlark.Value, error) {
	var msg string
	if err := c.unpack("msg", &msg); err != nil {
		return nil, err
	}
	_, err := x.failed(c, "", msg)
	return starlark.None, err
}

func (x *test) fatal(c call) (starlark.Value, error) {
	if _, err := x.error(c); err != nil {
		return nil, err
	}
	return nil, errStop
}

func (x *test) skip(c call) (starlark.Value, error) {
	reason := ""
	if err := c.unpack("reason?", &reason); err != nil {
		return nil, err
	}
	if reason != "" {
		x.logAt(c, reason)
	}
	return nil, errSkip
}

func (x *test) setenv(c call) (starlark.Value, error) {
	var name, value string
	if err := c.unpack("name", &name, "value", &value); err != nil {
		return nil, err
	}
	x.exec.env[name] = value
	return starlark.None, nil
}

func (x *test) run(c call) (starlark.Value, error) {
	if len(c.args) < 2 {
		return nil, errors.New("want a name and a function: t.run(name, fn, *args)")
	}
	name, ok := starlark.AsString(c.args[0])
	if !ok {
		return nil, fmt.Errorf("the name is a %s, want a string", c.args[0].Type())
	}
	fn, ok := c.args[1].(starlark.Callable)
	if !ok {
		return nil, fmt.Errorf("%s is not a function, got %s",
			interp.Show(c.args[1]), c.args[1].Type())
	}
	sub := x.exec.newTest(x.result.Name + "/" + x.subName(name))
	if !x.exec.runner.selection.selects(sub.result.Name) {
		return starlark.True, nil
	}
	outer := x.exec.inner
	x.exec.inner = sub
	_, err := starlark.Call(c.thread, fn, append(starlark.Tuple{sub}, c.args[2:]...), c.kwargs)
	x.exec.inner = outer
	stopped := err != nil && interp.IsStopped(err)
	if stopped {
		sub.result.Status = Fail // the whole test reports the reason
	} else {
		sub.end(err)
	}
	sub.result.Seconds = time.Since(sub.began).Seconds()
	x.result.Subs = append(x.result.Subs, sub.result)
	if sub.result.Status == Fail {
		x.result.Status = Fail
	}
	if stopped {
		return nil, err
	}
	return starlark.Bool(sub.result.Status != Fail), nil
}

// subName returns the name of a subtest like Go: without spaces, and numbered if it is repeated.
func (x *test) subName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
	n := x.names[name]
	x.names[name] = n + 1
	if n > 0 || name == "" {
		return fmt.Sprintf("%s#%02d", name, n)
	}
	return name
}

func (e *execution) newTest(name string) *test {
	return &test{exec: e, result: Result{Name: name, Status: Pass}, began: time.Now(), names: map[string]int{}}
}

// end records the outcome of the test's function.
func (x *test) end(err error) {
	switch {
	case err == nil:
	case errors.Is(err, errSkip):
		if x.result.Status != Fail {
			x.result.Status = Skip
		}
	case errors.Is(err, errStop):
		x.result.Status = Fail
	default:
		x.result.Status = Fail
		var e *interp.Error
		if !errors.As(err, &e) {
			e = x.exec.file.interp.Explain(err)
		}
		if !x.output(errorText(e)) {
			x.result.Output = append(x.result.Output, e.Error())
		}
		x.result.hitSharedLimit = hitSharedLimit(err)
	}
}

// errorText returns an error with its backtrace.
func errorText(e *interp.Error) string {
	text := e.Error()
	if detail := strings.TrimRight(e.Detail(), "\n"); detail != "" {
		text += "\n" + detail
	}
	return text
}
