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
	"torchx/runtime/safefile"
)

// NewSubmit returns the command `submit`.
func NewSubmit(f *program.Factory) *cli.Command {
	o := options{Options: planning.Options{Command: "submit", Submit: true}}
	onEnd, tags, after := cli.StringSlice{}, cli.StringSlice{}, cli.StringSlice{}
	return &cli.Command{
		Name:  "submit",
		Usage: "submit a saved plan or an app",
		UsageText: "FILE|- [-b BACKEND] [-cfg OPTIONS] [-d] [--json] [--wait] [--log] [--queue] [--tag KEY[=VALUE]]\n" +
			"torchx run --dryrun --json utils.echo > plan.json\n" +
			"torchx submit plan.json",
		Description: "Submit exactly what `torchx run --dryrun --json` printed, edited or not, from FILE or from stdin (-). The request " +
			"of a plan follows from its app: if app or cfg was edited, the request is made anew; if both were edited, they must agree. An app ID that exists " +
			"already is an error. submit also takes an app that a program made, {\"app\": ..., \"cfg\": ...}: the page JSON, schema app, " +
			"lists its fields. Options of -cfg, of cfg and of .torchxconfig apply to it, in this order. submit follows the app as run does.",
		Flags: append(append([]cli.Flag{
			program.BackendFlag(&o.Backend, "`BACKEND` of the plan, if the plan does not name it; of an app (default: the first of torchx runopts)"),
			program.CfgFlag(&o.Cfg),
			jsonFlag(&o.follow.JSON, ""),
			timeoutFlag(&o.Timeout),
			onEndFlag(&onEnd),
			afterFlag(&after),
		}, labelFlags(&tags, &o.Note)...), follow.Flags(&o.follow)...),
		Action: func(c *cli.Context) error {
			o.Tags, o.OnEnd, o.HasOnEnd = tags.Value(), onEnd.Value(), c.IsSet("on-end")
			o.After = after.Value()
			file, err := program.OneArgument(c, "FILE")
			if err != nil {
				return err
			}
			if err := o.follow.Check("submit"); err != nil {
				return err
			}
			if o.follow.Tty.On && file == "-" && !o.follow.Detach {
				return program.Usagef("submit", "--tty needs stdin for the terminal (put the plan into a file)")
			}
			return submit(c.Context, f, o, file)
		},
	}
}

func submit(ctx context.Context, f *program.Factory, o options, file string) error {
	data, err := readPlan(ctx, f, file)
	if err != nil {
		return err
	}
	if isAppFile(data) {
		return submitApp(ctx, f, o, file, data)
	}
	if o.Cfg != "" {
		return program.Usagef("submit", "-cfg is for an app without a request: change cfg of the plan in %s", planName(file))
	}
	load, err := planning.LoadOptions(f, o.Options)
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
	planned, err := r.Load(ctx, data, load)
	if err != nil {
		return fmt.Errorf("%s: %w", planName(file), err)
	}
	return execute(ctx, f, planned, o)
}

// submitApp plans and submits an app that a program made.
func submitApp(
	ctx context.Context, f *program.Factory, o options, file string, data []byte,
) error {
	in, err := parseAppFile(data)
	if err != nil {
		return fmt.Errorf("%s: %w", planName(file), err)
	}
	conf, err := f.Config()
	if err != nil {
		return err
	}
	if err := o.DefaultBackend(f, conf); err != nil {
		return err
	}
	o.CfgJSON, o.CfgOrigin = in.Cfg, "cfg"
	o.HasWorkspace = true // the app's own, if it has one
	planned, err := planning.Plan(ctx, f, o.Options, conf, planning.App{Spec: in.App})
	if err != nil {
		return fmt.Errorf("%s: %w", planName(file), err)
	}
	return execute(ctx, f, planned, o)
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
