package run

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/runtime/runner"
	"torchx/runtime/safefile"
)

// NewSubmit returns the command `submit`.
func NewSubmit(f *program.Factory) *cli.Command {
	var following follow.Options
	var backend, timeout, note string
	onEnd, tags := cli.StringSlice{}, cli.StringSlice{}
	return &cli.Command{
		Name:  "submit",
		Usage: "submit a saved plan",
		UsageText: "FILE|- [-d] [--wait] [--log] [--queue] [--tag KEY[=VALUE]]\n" +
			"torchx run --dryrun --json utils.echo > plan.json\n" +
			"torchx submit plan.json",
		Description: "Submit exactly what `torchx run --dryrun --json` printed, edited or not, from FILE or from stdin (-). submit follows " +
			"the app as run does. An app ID that exists already is an error.",
		Flags: append(append([]cli.Flag{
			program.BackendFlag(&backend, "`BACKEND` of the plan, if the plan does not name it"),
			timeoutFlag(&timeout),
			onEndFlag(&onEnd),
		}, labelFlags(&tags, &note)...), follow.Flags(&following)...),
		Action: func(c *cli.Context) error {
			file, err := program.OneArgument(c, "FILE")
			if err != nil {
				return err
			}
			if err := following.Check("submit"); err != nil {
				return err
			}
			if following.Tty.On && file == "-" && !following.Detach {
				return program.Usagef("submit", "--tty needs stdin for the terminal (put the plan into a file)")
			}
			limit, err := planning.ParseTimeout("submit", timeout)
			if err != nil {
				return err
			}
			conf, err := f.Config()
			if err != nil {
				return err
			}
			labels, defaults, err := planning.Labels("submit", tags.Value(), note, conf)
			if err != nil {
				return err
			}
			ends := planning.Ends{OnEnd: onEnd.Value(), HasOnEnd: c.IsSet("on-end")}
			return submit(c.Context, f, file, runner.LoadOptions{Backend: backend, Timeout: limit, Labels: labels, DefaultTags: defaults}, ends, following)
		},
	}
}

func submit(ctx context.Context, f *program.Factory, file string, o runner.LoadOptions,
	ends planning.Ends, following follow.Options,
) error {
	data, err := readPlan(ctx, f, file)
	if err != nil {
		return err
	}
	if o.Backend != "" {
		if _, err := f.Canonical("submit", o.Backend); err != nil {
			return err
		}
	}
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	image, err := f.Image()
	if err != nil {
		return err
	}
	o.Cwd, o.Environ, o.DefaultImage, o.Progress = f.Env.Dir, planning.ReplicaEnviron(f), image, f.Display.Tell
	planned, err := r.Load(ctx, data, o)
	if err != nil {
		return fmt.Errorf("%s: %w", planName(file), err)
	}
	printNotes(f, planned)
	if err := planning.ApplyOnEnd(ctx, f, "submit", ends, planned, true); err != nil {
		return err
	}
	return follow.SubmitPlanned(ctx, f, planned, following)
}

func planName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

// openPlan opens a plan. A shell's <(…) names a pipe of this process, which is read like
// stdin.
func openPlan(path string) (*os.File, error) {
	if strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/self/fd/") ||
		path == "/dev/stdin" {
		return os.Open(path)
	}
	return safefile.OpenInput(path)
}

func readPlan(ctx context.Context, f *program.Factory, file string) ([]byte, error) {
	in := f.Input(ctx)
	if file != "-" {
		in = program.Cancelable(ctx, func() (io.ReadCloser, error) { return openPlan(f.Env.Absolute(file)) })
	}
	defer in.Close()
	data, err := readLimited(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", planName(file), program.PathCause(err))
	}
	return data, nil
}
