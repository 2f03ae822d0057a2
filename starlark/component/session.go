package component

import (
	"context"
	"fmt"
	"maps"
	"os"

	"go.starlark.net/starlark"

	"torchx/runtime/spec"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// session is one interpreter with all that one component loads, so that what is
// recorded about a run is about its component alone.
type session struct {
	interp *interp.Interp
	root   string // the workspace whose libraries a component of a library sees
	fn     *starlark.Function
	reads  map[string]string // by torchx.getenv
}

func (l *Loader) newSession() *session {
	s := &session{reads: map[string]string{}, root: l.root()}
	c := l.config
	s.interp = interp.New(interp.Config{
		Dir: l.dir(), Builtins: c.Builtins, Library: c.Library, Print: c.Print, Fatal: c.Fatal,
		Predeclared: specmodule.Predeclared(specmodule.Options{
			Image: c.Image, Version: c.Version, Getenv: c.Getenv, Resources: c.Resources,
			OnGetenv:   func(name, value string) { s.reads[name] = value },
			ExpandUser: home,
			// pre_proc runs while an app is planned, long after Build has returned.
			Call: func(fn starlark.Callable, args starlark.Tuple) (starlark.Value, error) {
				return s.interp.Call(context.Background(), fn, args, nil)
			},
		}),
	})
	return s
}

// home is what ~ stands for; "" leaves it as it is.
func home() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return dir
}

func (s *session) load(ctx context.Context, p place) (*interp.Module, error) {
	switch {
	case p.path != "":
		return s.interp.LoadFile(ctx, p.path)
	case p.builtin != "":
		return s.interp.LoadBuiltin(ctx, p.builtin)
	default:
		return s.interp.LoadLibrary(ctx, s.root, p.library, p.file)
	}
}

func (s *session) call(ctx context.Context, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	return s.interp.Call(ctx, s.fn, args, kwargs)
}

// app names the function in the error, since it is the one to be changed.
func (s *session) app(v starlark.Value) (*spec.App, error) {
	app, err := specmodule.ToApp(v)
	if err != nil {
		return nil, fmt.Errorf("%s: component %s: %w", s.fn.Position(), s.fn.Name(), err)
	}
	return app, nil
}

func (s *session) modules() []Module { return s.interp.Modules() }

func (s *session) getenv() map[string]string { return maps.Clone(s.reads) }
