package component

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/starlark/component"
	"torchx/starlark/migrate"
)

// tryPort loads a port from a temporary folder and builds the app of each component that needs no
// arguments. A component that does not load or build moves from port.Components to port.Problems.
func tryPort(ctx context.Context, f *program.Factory, file string, port *migrate.Result) error {
	dir, err := os.MkdirTemp("", "torchx-migrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	name := strings.TrimSuffix(filepath.Base(file), ".py") + ".star"
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(port.Text), 0o600); err != nil {
		return err
	}
	loader, err := f.QuietLoader()
	if err != nil {
		return err
	}
	port.Components = slices.DeleteFunc(port.Components, func(fn string) bool {
		why := trial(ctx, loader, path+":"+fn)
		if why != "" {
			_, why, _ = strings.Cut(why, name+":")
			port.Problems = append(port.Problems, migrate.Problem{File: file, Msg: "the port of " + fn + " does not work: " + name + ":" + why})
		}
		return why != ""
	})
	return nil
}

// trial returns why a component does not load or build, "" if it does, if it needs arguments, or if
// it refuses its defaults by itself.
func trial(ctx context.Context, loader *component.Loader, ref string) string {
	c, err := loader.Find(ctx, ref)
	if err == nil {
		_, err = c.Build(ctx, component.Inputs{})
	}
	var usage *component.UsageError
	if err == nil || errors.As(err, &usage) || strings.Contains(err.Error(), ": fail: ") && !strings.Contains(err.Error(), ": fail: not ported: ") {
		return ""
	}
	return err.Error()
}
