// Package specmodule provides the names that are predeclared in every component
// file: the modules specs, torchx, json, math, shlex and path, and the function
// struct. specs has the names of TorchX's torchx.specs, so that a Python component
// can be ported by dropping its annotations.
//
// All values are immutable: constructors copy their arguments, and specs.replace
// returns a changed copy. Nothing here reads the machine except torchx.getenv, the working
// folder of path.cwd and the home folder of specs.parse_mounts, all through Options.
//
// Every function bounds the time and memory of a single call, because the
// interpreter can stop a program only between calls.
package specmodule

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"strings"

	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"torchx/runtime/spec"
)

// Options connects the modules to the program. Every field is optional.
type Options struct {
	Image   string // torchx.IMAGE, the default image of components
	Version string // torchx.version
	// Resources are the named resources of the project.
	Resources []NamedResource

	// Getenv serves torchx.getenv; nil means that no variable is set.
	Getenv func(name string) (string, bool)
	// OnGetenv is called for each variable that torchx.getenv found.
	OnGetenv func(name, value string)
	// Cwd returns the absolute working folder for path.cwd, path.abspath and path.here; nil means
	// "/workspace".
	Cwd func() string
	// ExpandUser returns the home folder that replaces a leading `~` of a bind mount's source; with
	// nil or "" the `~` stays.
	ExpandUser func() string
	// Call runs a role's pre_proc under the interpreter's limits; nil runs it without limits.
	Call func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error)
}

// Predeclared returns the names that every component file sees, frozen.
func Predeclared(o Options) starlark.StringDict {
	if o.Call == nil {
		o.Call = func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
			return starlark.Call(&starlark.Thread{Name: "pre_proc"}, fn, args, nil)
		}
	}
	names := starlark.StringDict{
		"specs": specsModule(o),
		"torchx": module("torchx", map[string]function{"getenv": o.getenv}, starlark.StringDict{
			"IMAGE":   starlark.String(o.Image),
			"version": starlark.String(o.Version),
			"py":      pyModule(),
		}),
		"json":   jsonModule(),
		"math":   math.Module,
		"struct": starlark.NewBuiltin("struct", starlarkstruct.Make),
		"shlex":  module("shlex", map[string]function{"quote": shlexQuote, "join": shlexJoin, "split": shlexSplit}, nil),
		"path":   pathModule(o),
	}
	names.Freeze()
	return names
}

// Names lists the names of Predeclared, sorted.
func Names() []string {
	return []string{"json", "math", "path", "shlex", "specs", "struct", "torchx"}
}

func specsModule(o Options) starlark.Value {
	names := resourceNames(o.Resources)
	macros, policies := starlark.StringDict{}, starlark.StringDict{}
	for _, name := range []string{"img_root", "app_id", "replica_id", "rank0_env"} {
		macros[name] = starlark.String("${" + name + "}")
	}
	for _, p := range spec.RetryPolicies {
		policies[string(p)] = starlark.String(p)
	}
	m := module("specs", map[string]function{
		"resource":            names.resource,
		"get_named_resources": names.get,
		"parse_mounts":        o.parseMounts,
		"replace":             replace,
		"overlay":             overlayFunc,
	}, starlark.StringDict{
		"named_resources": newNamedResources(names),
		"overlays":        overlaysModule(),
		"macros":          module("specs.macros", nil, macros),
		"RetryPolicy":     module("specs.RetryPolicy", nil, policies),
		"NULL_RESOURCE":   resourceRecord(spec.NullResource()),
		"MISSING":         starlark.String(spec.Missing),
		"NONE":            starlark.String(spec.None),
		"UNKNOWN":         starlark.String(spec.Unclear),
	})
	for k := range kindCount {
		m.Members[k.name()] = constructor(k, o)
	}
	return m
}

const getenvKey = "torchx.getenv" // key in the locals of a thread

// SetGetenv makes lookup serve torchx.getenv on one thread, overriding Options.Getenv.
func SetGetenv(t *starlark.Thread, lookup func(name string) (string, bool)) {
	t.SetLocal(getenvKey, lookup)
}

func (o Options) getenv(c call) (starlark.Value, error) {
	var name string
	var fallback starlark.Value = starlark.None
	if err := c.unpack("name", &name, "default?", &fallback); err != nil {
		return nil, err
	}
	lookup := o.Getenv
	if override, ok := c.thread.Local(getenvKey).(func(string) (string, bool)); ok {
		lookup = override
	}
	if lookup == nil {
		return fallback, nil
	}
	value, ok := lookup(name)
	if !ok {
		return fallback, nil
	}
	if o.OnGetenv != nil {
		o.OnGetenv(name, value)
	}
	return starlark.String(value), nil
}

type call struct {
	thread *starlark.Thread
	name   string // "specs.replace"
	args   starlark.Tuple
	kwargs []starlark.Tuple
}

type function = func(c call) (starlark.Value, error)

// namedError is an error that already names the function.
type namedError struct{ error }

// unpack reads the arguments like starlark.UnpackArgs.
func (c call) unpack(pairs ...any) error {
	if err := starlark.UnpackArgs(c.name, c.args, c.kwargs, pairs...); err != nil {
		return namedError{err}
	}
	return nil
}

// builtin returns f as a Starlark function. The function's errors start with name.
func builtin(name string, f function) *starlark.Builtin {
	return starlark.NewBuiltin(name, func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := f(call{t, name, args, kwargs})
		var named namedError
		switch {
		case errors.As(err, &named):
			return nil, named.error
		case err != nil:
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return v, nil
	})
}

// module returns a module of functions, named NAME.MEMBER, and other values.
func module(
	name string, functions map[string]function, values starlark.StringDict,
) *starlarkstruct.Module {
	m := &starlarkstruct.Module{Name: name, Members: starlark.StringDict{}}
	for member, f := range functions {
		m.Members[member] = builtin(name+"."+member, f)
	}
	maps.Copy(m.Members, values)
	return m
}

// Doc is the help text of a built-in name.
type Doc struct {
	Signature string // as declared: `specs.resource(cpu = None, …)`
	Text      string // one paragraph without line breaks
}

//go:embed docs.txt
var docs string

// Docs returns the documentation of all predeclared names by full name: "specs.Role", "struct".
func Docs() map[string]Doc { return ParseDocs(docs) }

// ParseDocs parses signatures, each followed by an indented line of text. A name ends at the first
// bracket of its signature.
func ParseDocs(text string) map[string]Doc {
	all := map[string]Doc{}
	signature := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") {
			signature = strings.TrimSpace(line)
			continue
		}
		name, _, _ := strings.Cut(strings.Replace(signature, "[", "(", 1), "(")
		all[name] = Doc{signature, strings.TrimSpace(line)}
	}
	return all
}
