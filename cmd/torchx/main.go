// Command torchx runs apps that are described in Starlark on this machine, on
// Docker and on Kubernetes, and looks after them. This package is the command
// line: one file per sub-command, one exit-code table (exit.go), and nothing
// else in the project prints.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"torchx/backends/all"
	"torchx/runtime/backend"

	"github.com/urfave/cli/v2"
)

func main() {
	becomeLimited(os.Args)
	collectLate()
	ownUmask()
	os.Exit(run(context.Background(), os.Args, streams{os.Stdin, os.Stdout, os.Stderr}, processEnv(), torchxProgram()))
}

// becomeLimited turns this process into a replica's program with limits, if it was
// started for that; first of all, so that the program finds its signals as they were.
func becomeLimited(args []string) {
	if len(args) < 2 || args[1] != all.LimitedCommand {
		return
	}
	code, err := all.ExecLimited(args[2:])
	fmt.Fprintln(os.Stderr, "torchx:", err)
	os.Exit(code)
}

// environment is what a command sees of the process around it; tests make their own.
type environment struct {
	vars    []string // "K=V"
	dir     string   // the working folder, absolute
	exe     string   // this program, for detached agents
	signals <-chan os.Signal
	// registry opens the backends of one TORCHX_HOME.
	registry func(all.Config) *backend.Registry
}

func processEnv() environment {
	dir, err := os.Getwd()
	if err != nil {
		dir = "." // a deleted folder: what needs it says so
	}
	exe, err := os.Executable()
	if err != nil {
		exe = os.Args[0]
	}
	return environment{
		vars: os.Environ(), dir: dir, exe: exe, signals: listen(), registry: openBackends,
	}
}

func openBackends(c all.Config) *backend.Registry { return all.New(c) }

// listen asks for the signals that end a command. SIGPIPE is asked for so that
// a closed pipe is an error to handle rather than a silent death; it is not
// ignored, because children would inherit that. A hang-up that is ignored
// (nohup) stays ignored.
func listen() <-chan os.Signal {
	c := make(chan os.Signal, 8)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(c, wanted...)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return c
}

// torchxProgram lists every command.
func torchxProgram() definition {
	return definition{
		commands: func(t *tool) []*cli.Command {
			return []*cli.Command{
				t.runCommand(), t.rerunCommand(), t.submitCommand(), t.statusCommand(), t.listCommand(), t.logCommand(),
				t.describeCommand(), t.eventsCommand(), t.attachCommand(), t.topCommand(), t.waitCommand(), t.cancelCommand(), t.deleteCommand(), t.pruneCommand(),
				t.componentCommand(), t.libCommand(), t.migrateCommand(), t.lspCommand(), t.diffCommand(),
				t.builtinsCommand(), t.runoptsCommand(), t.configureCommand(), t.configCommand(), t.doctorCommand(), t.completionCommand(), t.versionCommand(),
			}
		},
		hidden: map[string]func(context.Context, *tool, []string) error{
			completeCommand:   func(ctx context.Context, t *tool, args []string) error { return t.complete(ctx, args) },
			testWorkerCommand: func(ctx context.Context, t *tool, _ []string) error { return t.testWorker(ctx) },
		},
	}
}
