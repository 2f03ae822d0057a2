package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/backends/all"
	"torchx/runtime/agent"
	"torchx/state"
)

// agentCommand is the hidden command by which this program starts itself again,
// detached, to look after one app.
const agentCommand = "agent"

// definition is what the program consists of.
type definition struct {
	commands func(*tool) []*cli.Command
	// hidden are commands that this program calls itself with; they have no flags.
	hidden map[string]func(ctx context.Context, t *tool, args []string) error
}

// run is the whole program: it does what args say and returns the exit code.
func run(ctx context.Context, args []string, s streams, env environment, def definition) (code int) {
	if len(args) > 2 && args[1] == agentCommand {
		if args[2] == agent.SelfTestArgument {
			return agent.RunSelfTest(s.out)
		}
		return all.RunAgent(args[2], openStore)
	}
	ctx, interrupts := watchSignals(ctx, env.signals)
	defer interrupts.stop()
	t := newTool(s, env, interrupts)
	t.def = def
	defer func() {
		if r := recover(); r != nil {
			code = t.crash(r)
		}
	}()
	err := t.main(ctx, args[1:])
	if closeErr := t.close(); err == nil {
		err = closeErr
	}
	return t.report(ctx, err)
}

// openStore opens the history for an agent, which never refuses to work with it.
func openStore(ctx context.Context, home string) (agent.Store, error) {
	return state.Open(ctx, filepath.Join(home, historyFile), state.Options{Agent: true})
}

// crash reports a defect of this program in one line.
func (t *tool) crash(reason any) int {
	if t.env.get("TORCHX_DEBUG") != "" {
		fmt.Fprintf(t.err, "%s\n%s", oneLine(fmt.Sprint(reason)), debug.Stack())
	} else {
		t.sayError(fmt.Sprintf("internal error: %v (set TORCHX_DEBUG=1 for a trace)", reason))
	}
	return exitError
}

// main parses the command line and runs the command it names.
func (t *tool) main(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if hidden := t.def.hidden[args[0]]; hidden != nil {
			return hidden(ctx, t, args[1:])
		}
	}
	app := t.commandLine()
	line, err := grammarOf(app).normalise(args)
	if err != nil {
		return err
	}
	if line.help {
		return t.print(helpText(app, line.verb, terminalWidth(t.out)))
	}
	return app.RunContext(ctx, append([]string{app.Name}, line.args()...))
}

// grammarOf is the shape of the command line; behind a component, or an app to
// rerun, everything is the component's.
func grammarOf(app *cli.App) *grammar { return newGrammar(app.Flags, app.Commands, "run", "rerun") }

// commandLine defines the program: its flags and its commands.
func (t *tool) commandLine() *cli.App {
	app := &cli.App{
		Name:                      "torchx",
		Usage:                     "run apps described in Starlark on this machine, Docker or Kubernetes",
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Writer:                    t.out,
		ErrWriter:                 t.err,
		Reader:                    t.in,
		ExitErrHandler:            func(*cli.Context, error) {}, // run decides how the program ends
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return usagef("", "%v", err) },
		Flags:                     t.globalFlags(),
		Commands:                  t.def.commands(t),
		Before:                    t.applyGlobalFlags,
		Action:                    t.noCommand,
	}
	for _, c := range app.Commands {
		t.wrap(c, c.Name)
	}
	t.app = app
	return app
}

func (t *tool) globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log_level", Usage: "least `LEVEL` of messages: debug, info, warning or error (default: $LOGLEVEL, else info)"},
		&cli.BoolFlag{Name: "no-color", Usage: "no colours, as with NO_COLOR set"},
		&cli.BoolFlag{Name: "offline", Usage: "never use the network (the local backend does not anyway)"},
		&cli.BoolFlag{Name: "show-secrets", Usage: "show values that look like secrets (names like *_TOKEN; more: secrets in [torchx] of .torchxconfig, $TORCHX_SECRETS)"},
		&cli.BoolFlag{Name: "version", Usage: "print the version and exit"},
	}
}

func (t *tool) applyGlobalFlags(c *cli.Context) error {
	if c.Bool("no-color") {
		t.plain()
	}
	t.showSecrets = c.Bool("show-secrets")
	t.offline = c.Bool("offline")
	return t.setLevel(c.String("log_level"), c.IsSet("log_level"))
}

// noCommand is what happens without a command.
func (t *tool) noCommand(c *cli.Context) error {
	if c.Bool("version") {
		return t.printf("%s\n", versionLine())
	}
	_ = t.print(programHelp(c.App, terminalWidth(t.out))) // the error below is what counts
	t.sayError("no command is given: choose one of the above")
	return quietError{exitError}
}

// wrap completes a command: no flags or sub-commands of urfave's own, --version
// before anything else, and usage errors of our form. Its name is given with that
// of its group: "component test".
func (t *tool) wrap(c *cli.Command, name string) {
	c.HideHelp, c.HideHelpCommand = true, true
	for _, sub := range c.Subcommands {
		t.wrap(sub, name+" "+sub.Name)
	}
	action := c.Action
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return usagef(name, "%v", err) }
	c.Action = func(ctx *cli.Context) error {
		if ctx.Bool("version") {
			return t.printf("%s\n", versionLine())
		}
		return action(ctx)
	}
}

// isBrokenPipe holds when the reader of our output has gone.
func isBrokenPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}
