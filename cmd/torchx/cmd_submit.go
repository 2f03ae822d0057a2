package main

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"torchx/runtime/runner"
)

func (t *tool) submitCommand() *cli.Command {
	var following followOptions
	var backend string
	return &cli.Command{
		Name:      "submit",
		Usage:     "submit what a dry run printed",
		UsageText: "FILE|- [-d] [--wait] [--log] [--queue]\ntorchx run --dryrun --json utils.echo > plan.json\ntorchx submit plan.json",
		Description: "Submit exactly what `torchx run --dryrun --json` printed, edited or not, from FILE or - for stdin. " +
			"It stays with the app as run does. An app id that is taken is an error.",
		Flags: append([]cli.Flag{
			backendFlag(&backend, "the `BACKEND` that it was planned for, where the plan does not tell"),
		}, followFlags(&following)...),
		Action: func(c *cli.Context) error {
			file, err := oneArgument(c, "FILE")
			if err != nil {
				return err
			}
			if err := following.check("submit"); err != nil {
				return err
			}
			if following.tty.on && file == "-" && !following.detach {
				return usagef("submit", "--tty needs stdin for the terminal: put the plan into a file")
			}
			return t.submit(c.Context, file, backend, following)
		},
	}
}

func (t *tool) submit(ctx context.Context, file, backend string, following followOptions) error {
	data, err := t.readPlan(file)
	if err != nil {
		return err
	}
	if backend != "" {
		if _, err := t.canonical("submit", backend); err != nil {
			return err
		}
	}
	r, err := t.runner(ctx)
	if err != nil {
		return err
	}
	image, err := t.image()
	if err != nil {
		return err
	}
	planned, err := r.Load(ctx, data, runner.LoadOptions{
		Backend: backend, Cwd: t.env.dir, Environ: t.replicaEnviron(), DefaultImage: image, Progress: t.display.tell,
	})
	if err != nil {
		return fmt.Errorf("%s: %w", planName(file), err)
	}
	t.sayPlanned(planned)
	return t.submitPlanned(ctx, planned, following)
}

func planName(file string) string {
	if file == "-" {
		return "stdin"
	}
	return file
}

func (t *tool) readPlan(file string) ([]byte, error) {
	in := t.in
	if file != "-" {
		f, err := os.Open(t.env.absolute(file))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, pathCause(err))
		}
		defer f.Close()
		in = f
	}
	data, err := readLimited(in)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", planName(file), pathCause(err))
	}
	return data, nil
}
