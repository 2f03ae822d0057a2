package main

import (
	"context"

	"torchx/components"
	"torchx/starlark/component"
)

// evaluation benchmarks the evaluation of a component to an app, within the program.
func (w *environment) evaluation(runs int) []bench {
	load := func() (*component.Component, error) {
		l := component.NewLoader(component.Config{
			Dir: w.dir, Builtins: components.FS, Image: "image", Version: "1",
			Getenv: func(string) (string, bool) { return "", false }, Print: func(string) {}, Fatal: func(error) {},
		})
		return l.Find(context.Background(), "dist.ddp")
	}
	evaluate := func() error {
		c, err := load()
		if err != nil {
			return err
		}
		_, err = c.Build(context.Background(),
			component.Inputs{Args: []string{"-j", "2x2", "--script", "x.py"}})
		return err
	}
	find := func() error { _, err := load(); return err }
	return []bench{{
		name: "evaluate dist.ddp", goal: "< 2 ms", floorName: "loading its file alone", runs: 10 * runs,
		prepare: func() (side, side, error) { return timed(evaluate), timed(find), nil },
	}}
}
