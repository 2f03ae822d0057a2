package sweep

import (
	"context"
	"fmt"
	"io"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/safefile"
	"torchx/runtime/sweep"
	"torchx/starlark/component"
)

const (
	maxCount = sweep.MaxTrials
	// maxSeed leaves room for repeats below 2^32, the limit of numpy.random.seed.
	maxSeed = 1<<32 - 1 - sweep.MaxTrials
)

// values are the flags that say which values arguments take. The record of a sweep has them, so
// that it can be resumed and repeated.
type values struct {
	Grid   []string `json:"grid,omitempty"`
	Choice []string `json:"choice,omitempty"`
	Range  []string `json:"range,omitempty"`
	List   string   `json:"list,omitempty"` // the path as typed
	Random int64    `json:"random,omitempty"`
	Repeat int64    `json:"repeat,omitempty"`
	Seed   int64    `json:"seed,omitempty"`
}

// space returns the trials that the flags describe.
func (v *values) space(ctx context.Context, f *program.Factory) (*sweep.Space, error) {
	s := &sweep.Space{Samples: int(v.Random), Repeat: int(v.Repeat), Seed: v.Seed}
	for _, text := range v.Grid {
		g, err := sweep.ParseGrid(text)
		if err != nil {
			return nil, program.Usagef("sweep", "--grid %v", err)
		}
		s.Grid = append(s.Grid, g)
	}
	var err error
	if s.Draws, err = v.draws(); err != nil {
		return nil, err
	}
	if v.List != "" {
		if s.Rows, err = readList(ctx, f, v.List); err != nil {
			return nil, err
		}
	}
	if err := s.Check(); err != nil {
		return nil, program.Usagef("sweep", "%v", err)
	}
	return s, nil
}

// draws returns the arguments whose values are drawn.
func (v *values) draws() (all []sweep.Draw, err error) {
	for _, flag := range []struct {
		name  string
		texts []string
		parse func(string) (sweep.Draw, error)
	}{{"--choice", v.Choice, sweep.ParseChoice}, {"--range", v.Range, sweep.ParseRange}} {
		for _, text := range flag.texts {
			d, err := flag.parse(text)
			if err != nil {
				return nil, program.Usagef("sweep", "%s %v", flag.name, err)
			}
			all = append(all, d)
		}
	}
	return all, nil
}

// readList reads the file of --list.
func readList(ctx context.Context, f *program.Factory, path string) ([][]sweep.Param, error) {
	in, name := f.Input(ctx), "stdin"
	if path != "-" {
		name = path
		in = program.Cancelable(ctx, func() (io.ReadCloser, error) { return safefile.OpenInput(f.Env.Absolute(path)) })
	}
	defer in.Close()
	rows, err := sweep.ReadList(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, program.PathCause(err))
	}
	return rows, nil
}

// resolveNames replaces the names of arguments in a space by those of the component's parameters.
// A name that the component does not have is a *component.UsageError.
func resolveNames(c *component.Component, s *sweep.Space) error {
	known := map[string]string{}
	resolve := func(name *string) error {
		if known[*name] == "" {
			p, err := c.Option(*name)
			if err != nil {
				return err
			}
			known[*name] = p.Name
		}
		*name = known[*name]
		return nil
	}
	for _, row := range s.Rows {
		for i := range row {
			if err := resolve(&row[i].Name); err != nil {
				return err
			}
		}
	}
	for i := range s.Grid {
		if err := resolve(&s.Grid[i].Name); err != nil {
			return err
		}
	}
	for i := range s.Draws {
		if err := resolve(&s.Draws[i].Name); err != nil {
			return err
		}
	}
	if err := s.Check(); err != nil { // --grid a-b=1 --grid a_b=1
		return program.Usagef("sweep", "%v", err)
	}
	return nil
}

// misplacedFlag returns an error if an argument of the component is a flag of this command that
// says which values to try, else nil.
func misplacedFlag(args []string) error {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch name {
		case "--grid", "--choice", "--range", "--list", "--random", "--repeat":
			return program.Usagef("sweep", "%s stands after the component: write options of torchx before it", name)
		case "--":
			return nil
		}
	}
	return nil
}
