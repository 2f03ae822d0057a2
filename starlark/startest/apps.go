package startest

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"torchx/starlark/component"
	"torchx/starlark/interp"
	"torchx/starlark/specmodule"
)

// app is t.app(component, *args): it returns the app that `torchx run` builds from these arguments.
func (x *test) app(c call) (starlark.Value, error) {
	if len(c.args) == 0 || len(c.kwargs) > 0 {
		return nil, errors.New(`want a component and its arguments as typed: t.app(train, "--epochs", "3")`)
	}
	fn, ok := c.args[0].(*starlark.Function)
	if !ok {
		return nil, fmt.Errorf("%s is not a component, got %s", interp.Show(c.args[0]), c.args[0].Type())
	}
	words := make([]string, len(c.args)-1)
	for i, a := range c.args[1:] {
		word, ok := starlark.AsString(a)
		if !ok {
			return nil, fmt.Errorf("argument %d: got %s, want a string as typed", i+1, a.Type())
		}
		words[i] = word
	}
	args, kwargs, err := component.Arguments(fn, words, x.exec.runner.host.Resources...)
	if err != nil {
		return nil, err
	}
	v, err := starlark.Call(c.thread, fn, args, kwargs)
	if err != nil {
		return nil, err
	}
	app, err := specmodule.ToApp(v)
	if err == nil {
		err = app.Validate()
	}
	return v, err
}

// plan is t.plan(app, backend = "local", cfg = {}): it returns the backend's request as dicts and lists.
func (x *test) plan(c call) (starlark.Value, error) {
	var v starlark.Value
	backend, options := "local", starlark.NewDict(0)
	if err := c.unpack("app", &v, "backend?", &backend, "cfg?", &options); err != nil {
		return nil, err
	}
	app, err := specmodule.ToApp(v)
	if err != nil {
		return nil, err
	}
	cfg := map[string]string{}
	for _, item := range options.Items() {
		key, ok := starlark.AsString(item[0])
		if !ok {
			return nil, fmt.Errorf("cfg: the key %s is a %s, want a string", interp.Show(item[0]), item[0].Type())
		}
		if cfg[key], err = cfgText(item[1]); err != nil {
			return nil, fmt.Errorf("cfg: %s: %w", key, err)
		}
	}
	plan := x.exec.runner.host.Plan
	if plan == nil {
		return nil, errors.New("no backends are available")
	}
	request, err := plan(app, backend, cfg)
	if err != nil {
		return nil, err
	}
	return specmodule.FromJSON(request)
}

// cfgText returns a value in the syntax of -cfg.
func cfgText(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case starlark.Bool:
		return map[bool]string{true: "true", false: "false"}[bool(v)], nil
	case starlark.Int, starlark.Float:
		return v.String(), nil
	}
	return "", fmt.Errorf("a %s cannot be an option: write it as a string", v.Type())
}
