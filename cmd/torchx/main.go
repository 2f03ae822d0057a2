// Command torchx runs apps that are described in Starlark on this machine, on Docker, Slurm and
// Kubernetes. This package lists the commands, which the packages of cmd/internal define;
// cmd/internal/program parses the command line and reports errors.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/urfave/cli/v2"

	"torchx/backends/all"
	"torchx/cmd/internal/app"
	"torchx/cmd/internal/compare"
	"torchx/cmd/internal/complete"
	"torchx/cmd/internal/component"
	"torchx/cmd/internal/config"
	"torchx/cmd/internal/diff"
	"torchx/cmd/internal/doctor"
	"torchx/cmd/internal/lib"
	"torchx/cmd/internal/manual"
	"torchx/cmd/internal/metrics"
	"torchx/cmd/internal/output"
	"torchx/cmd/internal/page"
	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/provenance"
	"torchx/cmd/internal/replica"
	"torchx/cmd/internal/run"
	"torchx/cmd/internal/sweep"
	"torchx/cmd/internal/ui"
)

func main() {
	becomeLimited(os.Args)
	program.DelayGC()
	program.OwnUmask()
	os.Exit(program.Run(context.Background(), os.Args, ui.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, program.ProcessEnv(), torchxProgram()))
}

// becomeLimited runs an internal command of a backend. That of the local backend replaces this
// process by a replica's program. It must run first, so that the program inherits unchanged signal
// handling.
func becomeLimited(args []string) {
	if len(args) < 2 {
		return
	}
	command := all.Command(args[1])
	if command == nil {
		return
	}
	code, err := command(args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "torchx:", err)
	}
	os.Exit(code)
}

// torchxProgram returns the commands, in the order and groups of the overview.
func torchxProgram() program.Definition {
	return program.Definition{
		Commands: func(f *program.Factory) []*cli.Command {
			return slices.Concat(
				program.InGroup("run", run.NewRun(f), run.NewRerun(f), run.NewSubmit(f), app.NewAttach(f), app.NewWait(f), app.NewCancel(f), app.NewDelete(f), app.NewPrune(f)),
				program.InGroup("look", slices.Concat(
					[]*cli.Command{app.NewList(f), app.NewStatus(f), app.NewLog(f), app.NewTop(f), page.NewUI(f), app.NewDescribe(f), app.NewEvents(f), diff.NewDiff(f)},
					program.Together("exec, cp", "or port-forward a replica", replica.NewExec(f), replica.NewCopy(f), replica.NewPortForward(f)),
					program.Together("tag, note", "label and describe apps", app.NewTag(f), app.NewNote(f)),
				)...),
				program.InGroup("measure", app.NewUsage(f), metrics.NewMetrics(f), output.NewOutput(f), compare.NewCompare(f), compare.NewTracker(f), sweep.NewSweep(f)),
				program.InGroup("write", component.NewComponent(f), component.NewBuiltins(f), component.NewMigrate(f), component.NewLSP(f), lib.NewLib(f), manual.NewDocs(f)),
				program.InGroup("set up", config.NewConfigure(f), config.NewConfig(f), config.NewRunopts(f), doctor.NewDoctor(f), complete.NewCompletion(f), f.NewVersion()),
				[]*cli.Command{manual.NewHelp(f)},
			)
		},
		Hidden: map[string]func(context.Context, *program.Factory, []string) error{
			complete.Command:            complete.Complete,
			page.ServeCommand:           page.Serve,
			api.CallCommand:             page.Call,
			provenance.CollectCommand:   provenance.Collect,
			component.TestWorkerCommand: func(ctx context.Context, f *program.Factory, _ []string) error { return component.TestWorker(ctx, f) },
		},
	}
}
