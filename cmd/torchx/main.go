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
	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/compare"
	"torchx/cmd/internal/component"
	"torchx/cmd/internal/end"
	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/manual"
	"torchx/cmd/internal/mcp"
	"torchx/cmd/internal/page"
	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/replica"
	"torchx/cmd/internal/results"
	"torchx/cmd/internal/run"
	"torchx/cmd/internal/setup"
	"torchx/cmd/internal/status"
	"torchx/cmd/internal/sweep"
	"torchx/cmd/internal/top"
	"torchx/cmd/internal/transfer"
	"torchx/cmd/internal/ui"
)

func main() {
	becomeLimited(os.Args)
	program.DelayGC()
	program.KeepOwnerAccess()
	if len(os.Args) > 2 && os.Args[1] == agentCommand {
		os.Exit(runAgent(os.Args[2]))
	}
	os.Exit(program.Run(context.Background(), os.Args, ui.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, program.ProcessEnv(all.New), torchxProgram()))
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
		Commands: slices.Concat(
			program.InGroup("run", entry("run", run.NewRun), entry("rerun", newRerun), entry("submit", run.NewSubmit), entry("attach", follow.NewAttach),
				entry("wait", end.NewWait), entry("cancel", end.NewCancel), entry("delete", end.NewDelete), entry("prune", end.NewPrune)),
			program.InGroup("look", slices.Concat(
				[]program.Command{
					entry("list", apps.NewList), entry("status", status.NewStatus), entry("log", follow.NewLog), entry("top", top.NewTop), entry("ui", page.NewUI),
					entry("describe", status.NewDescribe), entry("events", status.NewEvents), entry("diff", compare.NewDiff),
				},
				program.Together("exec, cp", "or port-forward a replica", entry("exec", replica.NewExec), entry("cp", replica.NewCopy), entry("port-forward", replica.NewPortForward)),
				program.Together("tag, note", "export, or import apps", entry("tag", apps.NewTag), entry("note", apps.NewNote),
					entry("export", transfer.NewExport), entry("import", transfer.NewImport)),
			)...),
			program.InGroup("measure", entry("usage", top.NewUsage), entry("metrics", results.NewMetrics), entry("output", results.NewOutput),
				entry("compare", compare.NewCompare), entry("tracker", compare.NewTracker), entry("sweep", sweep.NewSweep)),
			program.InGroup("write", slices.Concat(
				[]program.Command{
					entry("component", component.NewComponent), entry("builtins", component.NewBuiltins),
					entry("migrate", component.NewMigrate),
				},
				program.Together("lsp, mcp", "serve editors, assistants", entry("lsp", component.NewLSP), entry("mcp", mcp.NewMCP)),
				[]program.Command{entry("lib", setup.NewLib), entry("docs", manual.NewDocs)},
			)...),
			program.InGroup("set up", entry("configure", setup.NewConfigure), entry("config", setup.NewConfig), entry("runopts", setup.NewRunopts),
				entry("doctor", setup.NewDoctor), entry("completion", manual.NewCompletion), entry("version", (*program.Factory).NewVersion)),
			[]program.Command{entry("help", manual.NewHelp)},
		),
		Hidden: map[string]func(context.Context, *program.Factory, []string) error{
			manual.CompleteCommand:      manual.Complete,
			page.ServeCommand:           page.Serve,
			api.CallCommand:             page.Call,
			program.CollectCommand:      program.CollectProvenance,
			component.TestWorkerCommand: func(ctx context.Context, f *program.Factory, _ []string) error { return component.TestWorker(ctx, f) },
		},
	}
}

func entry(name string, build func(*program.Factory) *cli.Command) program.Command {
	return program.Command{Name: name, New: build}
}

func newRerun(f *program.Factory) *cli.Command { return run.NewRerun(f, sweep.Rerun) }
