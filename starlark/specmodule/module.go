// Package specmodule provides what is predeclared in every component file:
// the modules specs, torchx, json, math, shlex and path, and the function
// struct. specs mirrors the names of TorchX's torchx.specs, so that a Python
// component ports by dropping its annotations.
//
// All values are immutable: constructors copy what they are given, and
// specs.replace makes a changed copy. Nothing here reads the machine except
// torchx.getenv and the home folder of specs.parse_mounts, both through Options.
//
// Every function bounds the work and memory of a single call, because the
// interpreter can stop a program only between calls.
package specmodule

import (
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"torchx/runtime/spec"
)

// Options connects the modules to their host. Every field may be left zero.
type Options struct {
	Image   string // torchx.IMAGE: the image of components that are given none
	Version string // torchx.version
	// Resources are those of the project, beside the built-in ones.
	Resources []NamedResource

	// Getenv looks a variable up for torchx.getenv; nil: there are none.
	Getenv func(name string) (string, bool)
	// OnGetenv is told each variable that torchx.getenv found; nil: nobody is.
	OnGetenv func(name, value string)
	// ExpandUser returns the home folder that `~` stands for in the source of a
	// bind mount; nil or "": it stays `~`.
	ExpandUser func() string
	// Call runs a role's pre_proc under the interpreter's limits; nil: it is
	// called without any.
	Call func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error)
}

// Predeclared returns the names that every component file sees. The values are
// frozen.
func Predeclared(o Options) starlark.StringDict {
	if o.Call == nil {
		o.Call = callUnlimited
	}
	names := starlark.StringDict{
		"specs":  specsModule(o),
		"torchx": torchxModule(o),
		"json":   jsonModule(),
		"math":   math.Module,
		"struct": starlark.NewBuiltin("struct", starlarkstruct.Make),
		"shlex":  shlexModule(),
		"path":   pathModule(),
	}
	names.Freeze()
	return names
}

func callUnlimited(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
	return starlark.Call(&starlark.Thread{Name: "pre_proc"}, fn, args, nil)
}

func specsModule(o Options) starlark.Value {
	names := &resourceNames{o.Resources}
	m := &starlarkstruct.Module{Name: "specs", Members: starlark.StringDict{
		"resource":            starlark.NewBuiltin("specs.resource", names.resource),
		"get_named_resources": starlark.NewBuiltin("specs.get_named_resources", names.get),
		"named_resources":     newNamedResources(names),
		"parse_mounts":        starlark.NewBuiltin("specs.parse_mounts", o.parseMounts),
		"replace":             starlark.NewBuiltin("specs.replace", replace),
		"overlay":             starlark.NewBuiltin("specs.overlay", overlayFunc),
		"overlays":            overlaysModule(),
		"macros":              macrosModule(),
		"RetryPolicy":         retryPolicyModule(),
		"NULL_RESOURCE":       resourceRecord(spec.NullResource()),
		"MISSING":             starlark.String(spec.Missing),
		"NONE":                starlark.String(spec.None),
	}}
	for k := range kindCount {
		m.Members[k.name()] = constructor(k, o)
	}
	return m
}

func macrosModule() starlark.Value {
	m := &starlarkstruct.Module{Name: "specs.macros", Members: starlark.StringDict{}}
	for _, name := range []string{"img_root", "app_id", "replica_id", "rank0_env"} {
		m.Members[name] = starlark.String("${" + name + "}")
	}
	return m
}

func retryPolicyModule() starlark.Value {
	m := &starlarkstruct.Module{Name: "specs.RetryPolicy", Members: starlark.StringDict{}}
	for _, p := range spec.RetryPolicies {
		m.Members[string(p)] = starlark.String(p)
	}
	return m
}

func torchxModule(o Options) starlark.Value {
	return &starlarkstruct.Module{Name: "torchx", Members: starlark.StringDict{
		"IMAGE":   starlark.String(o.Image),
		"version": starlark.String(o.Version),
		"getenv":  starlark.NewBuiltin("torchx.getenv", o.getenv),
		"py":      pyModule(),
	}}
}

const getenvKey = "torchx.getenv" // in the locals of a thread

// SetGetenv makes lookup serve torchx.getenv on one thread, instead of Options.Getenv.
func SetGetenv(t *starlark.Thread, lookup func(name string) (string, bool)) {
	t.SetLocal(getenvKey, lookup)
}

// getenv is torchx.getenv(name, default = None).
func (o Options) getenv(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var name string
	var fallback starlark.Value = starlark.None
	if err := starlark.UnpackArgs(b.Name(), args, kwargs, "name", &name, "default?", &fallback); err != nil {
		return nil, err
	}
	lookup := o.Getenv
	if own, ok := t.Local(getenvKey).(func(string) (string, bool)); ok {
		lookup = own
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
