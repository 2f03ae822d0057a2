package sweep

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// resumeOptions are the flags of `sweep resume`.
type resumeOptions struct {
	random int64
	failed bool
	detach bool
}

// newResume returns the command `sweep resume`.
func newResume(f *program.Factory) *cli.Command {
	var o resumeOptions
	var random string
	return &cli.Command{
		Name:  "resume",
		Usage: "continue a sweep that has ended",
		UsageText: "HANDLE [--random N] [--failed] [-d]\n" +
			"torchx sweep resume - --random 2",
		Description: "Continue a sweep that has ended: run the trials that did not run because the sweep was canceled or ended early. --random draws " +
			"further values, evaluated with the component as it is now, in the folder where the sweep was started. --failed runs the trials that failed again. " +
			"The sweep keeps its handle, and sweep resume follows it as sweep does. " +
			program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "random", Usage: "draw `N` more times for each combination of --grid and --list", Destination: &random},
			&cli.BoolFlag{Name: "failed", Usage: "run the trials that failed again", Destination: &o.failed},
			&cli.BoolFlag{Name: "detach", Aliases: []string{"d"}, Usage: "return when the sweep has started again", Destination: &o.detach},
		},
		Action: func(c *cli.Context) error {
			handle, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			if err := parseNumber("--random", random, maxCount, &o.random); err != nil {
				return err
			}
			return resume(c.Context, f, handle, o)
		},
	}
}

func resume(ctx context.Context, f *program.Factory, handle string, o resumeOptions) error {
	past, err := planning.PastApp(ctx, f, handle)
	if err != nil {
		return err
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	extension := sweep.Extension{Failed: o.failed}
	definition, trials, err := r.SweepOf(ctx, past.Ref)
	if err != nil {
		return err
	}
	status, err := r.Status(ctx, past.Ref)
	if err != nil {
		return err
	}
	if !status.State.Terminal() {
		return fmt.Errorf("%s has not ended: `torchx wait %s` waits for it",
			past.Ref.Handle(), past.Ref.Handle())
	}
	if o.random > 0 {
		p, err := prepareMore(ctx, f, past, definition, trials, int(o.random))
		if err != nil {
			return err
		}
		if extension.Trials, err = p.trials(ctx); err != nil {
			return err
		}
	}
	if err := checkWork(ctx, r, past.Ref, &extension); err != nil {
		return err
	}
	began := time.Now()
	if err := r.ExtendSweep(ctx, past.Ref, extension); err != nil {
		return err
	}
	if err := f.Printf("%s\n", past.Ref.Handle()); err != nil && !program.IsBrokenPipe(err) {
		return err
	}
	if o.detach {
		return nil
	}
	return show(ctx, f, past.Ref, began)
}

// checkWork returns an error if an extension would run nothing.
func checkWork(ctx context.Context, r *runner.Runner, ref runner.Ref, e *sweep.Extension) error {
	s, err := r.Trials(ctx, ref)
	if err != nil {
		return err
	}
	leftOut := slices.ContainsFunc(s.Trials, func(t sweep.TrialStatus) bool {
		return s.Halted != "" && t.State == spec.Cancelled && t.Stopped == s.Reason
	})
	if leftOut || len(e.Trials) > 0 || e.Failed && s.Failed > 0 {
		return nil
	}
	if e.Failed {
		return fmt.Errorf("nothing to resume: no trial of %s has failed", ref.Handle())
	}
	return fmt.Errorf("nothing to resume: all trials of %s have run (draw more with --random N, or run those that failed with --failed)", ref.Handle())
}

// prepareMore prepares further drawings of a sweep.
func prepareMore(ctx context.Context, f *program.Factory, past *runner.Recorded,
	definition *sweep.Definition, trials iter.Seq2[*sweep.Trial, error], random int,
) (*preparation, error) {
	f, o, err := planning.RerunOptions(f,
		planning.Options{Command: "sweep resume", Backend: definition.Backend, Submit: true}, past)
	if err != nil {
		return nil, err
	}
	o.Component, o.Inputs.Args = past.Component, past.Args
	conf, err := f.Config()
	if err != nil {
		return nil, err
	}
	p := &preparation{Factory: f, options: options{Options: o}, sweep: *definition}
	if p.component, err = planning.Find(ctx, f, &p.options.Options, conf); err != nil {
		return nil, err
	}
	if err := p.addDrawings(past, trials, random); err != nil {
		return nil, err
	}
	p.planner, err = planning.Prepare(ctx, f, p.options.Options, conf)
	return p, err
}

// addDrawings sets the space to further drawings for each combination of values that the sweep
// has, and numbers them on from its last trial.
func (p *preparation) addDrawings(
	past *runner.Recorded, trials iter.Seq2[*sweep.Trial, error], random int,
) error {
	recorded, err := planning.ReadRecorded(past.Request)
	if err != nil {
		return err
	}
	v := &p.options.values
	if err := json.Unmarshal(recorded.Sweep, v); err != nil {
		return fmt.Errorf("read how %s was drawn: %w", past.Ref.Handle(), err)
	}
	p.space = &sweep.Space{Samples: random, Repeat: int(v.Repeat), Seed: v.Seed}
	if p.space.Draws, err = v.draws(); err != nil {
		return err
	}
	if len(p.space.Draws) == 0 {
		return program.Usagef("sweep resume",
			"--random has nothing to draw: the sweep has no --choice and no --range")
	}
	if err := resolveNames(p.component, p.space); err != nil {
		return err
	}
	if p.space.Rows, p.first, err = combinations(p.space.Draws, trials); err != nil {
		return err
	}
	p.space.Drawn = p.first / max(1, p.space.Repeat)
	if p.first+p.space.Len() > sweep.MaxTrials {
		return program.Usagef("sweep resume",
			"the sweep would have more than %d trials", sweep.MaxTrials)
	}
	return nil
}

// combinations returns the values of arguments that are not drawn, each combination once, and the
// number of trials.
func combinations(
	draws []sweep.Draw, trials iter.Seq2[*sweep.Trial, error],
) (rows [][]sweep.Param, n int, err error) {
	seen := map[string]bool{}
	for t, err := range trials {
		if err != nil {
			return nil, 0, err
		}
		n++
		row := slices.DeleteFunc(slices.Clone(t.Params), func(p sweep.Param) bool {
			return slices.ContainsFunc(draws, func(d sweep.Draw) bool { return d.Name == p.Name })
		})
		var key strings.Builder
		for _, p := range row {
			fmt.Fprintf(&key, "%q=%q ", p.Name, p.Value)
		}
		if len(row) > 0 && !seen[key.String()] {
			seen[key.String()] = true
			rows = append(rows, row)
		}
	}
	return rows, n, nil
}
