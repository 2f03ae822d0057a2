package interp

import (
	"context"

	"go.starlark.net/starlark"
)

// Hooks take the place of functions of Config for the evaluations that a context
// is given to; a nil one changes nothing.
type Hooks struct {
	Print func(msg string)
	Fatal func(err error)
}

type hooksKey struct{}

// WithHooks returns a context for LoadFile, LoadBuiltin or Call.
func WithHooks(ctx context.Context, h Hooks) context.Context {
	return context.WithValue(ctx, hooksKey{}, h)
}

func hooksOf(ctx context.Context) Hooks {
	h, _ := ctx.Value(hooksKey{}).(Hooks)
	return h
}

func (r *run) print(_ *starlark.Thread, msg string) {
	switch {
	case r.hooks.Print != nil:
		r.hooks.Print(msg)
	case r.interp.cfg.Print != nil:
		r.interp.cfg.Print(msg)
	}
}

// fatal is what ends the process, nil if nothing may.
func (r *run) fatal() func(error) {
	if r.hooks.Fatal != nil {
		return r.hooks.Fatal
	}
	return r.interp.cfg.Fatal
}
