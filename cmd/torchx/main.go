// Command torchx runs apps that are described in Starlark on this machine, on
// Docker and on Kubernetes, and looks after them. This package is the command
// line: one file per sub-command, one exit-code table (exit.go), and nothing
// else in the project prints.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"torchx/backends/all"
	"torchx/cmd/internal/app"
	"torchx/cmd/internal/complete"
	"torchx/cmd/internal/component"
	"torchx/cmd/internal/config"
	"torchx/cmd/internal/diff"
	"torchx/cmd/internal/doctor"
	"torchx/cmd/internal/lib"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/run"
	"torchx/cmd/internal/ui"
)

func main() {
	becomeLimited(os.Args)
	program.CollectLate()
	program.OwnUmask()
	os.Exit(program.Run(context.Background(), os.Args, ui.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, program.ProcessEnv(), torchxProgram()))
}

// becomeLimited turns this process into a replica's program with limits, if it was
// started for that; first of all, so that the program finds its signals as they were.
func becomeLimited(args []string) {
	if len(args) < 2 {
		return
	}
	command := all.Command(args[1])
	if command == nil {
		return
	}
	code, err := command(args[2:])
	fmt.Fprintln(os.Stderr, "torchx:", err)
	os.Exit(code)
}

// torchxProgram lists every command.
func torchxProgram() program.Definition {
	return program.Definition{
		Commands: func(t *program.Factory) []*cli.Command {
			return []*cli.Command{
				run.NewRun(t), run.NewRerun(t), run.NewSubmit(t), app.NewStatus(t), app.NewList(t), app.NewLog(t),
				app.NewDescribe(t), app.NewEvents(t), app.NewAttach(t), app.NewTop(t), app.NewWait(t), app.NewCancel(t), app.NewDelete(t), app.NewPrune(t),
				component.NewComponent(t), lib.NewLib(t), component.NewMigrate(t), component.NewLsp(t), diff.NewDiff(t),
				component.NewBuiltins(t), config.NewRunopts(t), config.NewConfigure(t), config.NewConfig(t), doctor.NewDoctor(t), complete.NewCompletion(t), t.NewVersion(),
			}
		},
		Hidden: map[string]func(context.Context, *program.Factory, []string) error{
			complete.CompleteCommand: func(ctx context.Context, t *program.Factory, args []string) error {
				return complete.Complete(ctx, t, args)
			},
			component.TestWorkerCommand: func(ctx context.Context, t *program.Factory, _ []string) error { return component.TestWorker(ctx, t) },
		},
	}
}
