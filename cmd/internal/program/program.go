// Package program runs the commands of torchx: Run parses the command line, calls the
// command and turns its error into a message and an exit code. Commands get a Factory, which
// opens configuration, backends and history on first use, and an Environment, which tests
// replace.
package program

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/ui"
	"torchx/starlark/interp"
)

// Command builds a command when it is needed: a program that builds all of them starts a
// millisecond later.
type Command struct {
	Name string // of the command that New builds
	New  func(*Factory) *cli.Command
}

// with returns a command that is changed after it was built.
func (c Command) with(change func(*cli.Command)) Command {
	return Command{c.Name, func(f *Factory) *cli.Command {
		built := c.New(f)
		change(built)
		return built
	}}
}

// Definition lists the commands of the program.
type Definition struct {
	Commands []Command
	// Hidden are commands that torchx itself calls; they have no flags.
	Hidden map[string]func(ctx context.Context, f *Factory, args []string) error
}

// Run runs the command that args name and returns the exit code.
func Run(
	ctx context.Context, args []string, s ui.Streams, env Environment, def Definition,
) (code int) {
	ctx, interrupts := watchSignals(ctx, env.Signals)
	defer interrupts.stop()
	f := NewFactory(s, env, def, interrupts)
	if env.Exit != nil {
		interp.GuardProcess(interp.MaxProcessHeap, func(err error) { env.Exit(f.Report(ctx, err)) })
	}
	interrupts.setAbandon(f.abandonWith(os.Exit))
	defer func() {
		if r := recover(); r != nil {
			code = f.crash(r)
		}
	}()
	err := f.main(ctx, args[1:])
	if closeErr := f.close(); err == nil {
		err = closeErr
	}
	return f.Report(ctx, err)
}

// crash reports a panic in one line and returns the exit code.
func (f *Factory) crash(reason any) int {
	if f.Env.Get("TORCHX_DEBUG") != "" {
		fmt.Fprintf(f.Err, "%s\n%s", ui.OneLine(fmt.Sprint(reason)), debug.Stack())
	} else {
		f.SayError(fmt.Sprintf("internal error: %v (set TORCHX_DEBUG=1 for a trace)", reason))
	}
	return ExitError
}

// Command runs a command line as the program does.
func (f *Factory) Command(ctx context.Context, args []string) error { return f.main(ctx, args) }

// main parses the command line and runs its command.
func (f *Factory) main(ctx context.Context, args []string) error {
	if len(args) > 0 {
		if hidden := f.def.Hidden[args[0]]; hidden != nil {
			return hidden(ctx, f, args[1:])
		}
	}
	app := f.commandLineFor(args)
	g := GrammarOf(app)
	line, err := g.Normalize(args)
	if err != nil {
		return cmp.Or(f.checkEarlyBackend(g, line.Early), err)
	}
	if line.Help {
		return f.Print(HelpText(app, line.Verb, ui.TerminalWidth(f.Out)))
	}
	err = app.RunContext(ctx, append([]string{app.Name}, line.Args()...))
	var usage *grammar.UsageError
	if err != nil && !errors.As(err, &usage) && slices.Equal(line.Positionals, []string{"help"}) { // `help` is not a subcommand
		return fmt.Errorf("%w (see `torchx help %s`)", err, line.Verb)
	}
	return err
}

// checkEarlyBackend returns an error if flags without a command name a backend that does
// not exist.
func (f *Factory) checkEarlyBackend(g *grammar.Grammar, early []string) error {
	for i, arg := range early {
		spelling, name, hasValue := strings.Cut(arg, "=")
		if flag := g.Find(g.Verbs["run"], spelling); flag == nil || flag.Name != "backend" {
			continue
		}
		if !hasValue && i+1 < len(early) {
			name = early[i+1]
		}
		_, err := f.Canonical("", name)
		return err
	}
	return nil
}

// GrammarOf returns the grammar of the command line. Words after the first positional of run,
// rerun and sweep belong to the component, those after the second one of exec to its command.
func GrammarOf(app *cli.App) *grammar.Grammar {
	return grammar.New(app.Flags, app.Commands,
		map[string]int{"run": 1, "rerun": 1, "sweep": 1, "exec": 2})
}

// CommandLine returns the definition of the program: its flags and its commands.
func (f *Factory) CommandLine() *cli.App { return f.commandLineOf(f.def.Commands) }

// commandLineFor returns the definition of what args may mean: only one command if they begin
// with its name.
func (f *Factory) commandLineFor(args []string) *cli.App {
	if len(args) > 0 {
		if i := slices.IndexFunc(f.def.Commands, func(c Command) bool { return c.Name == args[0] }); i >= 0 {
			return f.commandLineOf(f.def.Commands[i : i+1])
		}
	}
	return f.CommandLine()
}

func (f *Factory) commandLineOf(commands []Command) *cli.App {
	app := &cli.App{
		Name:                      "torchx",
		Usage:                     "run apps on this machine, on Docker, on Slurm and on Kubernetes",
		HideHelp:                  true,
		HideHelpCommand:           true,
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Writer:                    f.Out,
		ErrWriter:                 f.Err,
		Reader:                    f.In,
		ExitErrHandler:            func(*cli.Context, error) {}, // Run decides how the program ends
		OnUsageError:              func(_ *cli.Context, err error, _ bool) error { return Usagef("", "%v", err) },
		Flags:                     f.globalFlags(),
		Before:                    f.applyGlobalFlags,
		Action:                    f.noCommand,
	}
	for _, command := range commands {
		c := command.New(f)
		f.wrap(c, c.Name)
		app.Commands = append(app.Commands, c)
	}
	return app
}

func (f *Factory) globalFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "log_level", Usage: "lowest `LEVEL` of messages to print: debug, info, warning or error (default: $LOGLEVEL, else info)"},
		&cli.BoolFlag{Name: "no-color", Usage: "print no color, as with NO_COLOR set"},
		&cli.BoolFlag{Name: "offline", Usage: "never use the network (the local backend does not use it)"},
		&cli.BoolFlag{Name: "show-secrets", Usage: "show values that look like secrets, such as those of *_TOKEN (add patterns in $TORCHX_SECRETS or as secrets in [torchx] of .torchxconfig)"},
		&cli.BoolFlag{Name: "version", Usage: "print the version and exit"},
	}
}

func (f *Factory) applyGlobalFlags(c *cli.Context) error {
	if c.Bool("no-color") {
		f.Plain()
	}
	f.ShowSecrets = c.Bool("show-secrets")
	f.offline = c.Bool("offline")
	return f.setLevel(c.String("log_level"), c.IsSet("log_level"))
}

// noCommand prints the version, or without --version the overview. It fails as TorchX does,
// so that a script whose command is empty does not go on.
func (f *Factory) noCommand(c *cli.Context) error {
	if c.Bool("version") {
		return f.Printf("%s\n", versionLine())
	}
	if err := f.Print(Overview(c.App, ui.TerminalWidth(f.Out))); err != nil {
		return err
	}
	return QuietError(ExitError)
}

// wrap removes urfave's own flags and subcommands from a command, makes --version win, and
// turns usage errors into ours. name includes the command's group: "component test".
func (f *Factory) wrap(c *cli.Command, name string) {
	c.HideHelp, c.HideHelpCommand = true, true
	for _, sub := range c.Subcommands {
		f.wrap(sub, name+" "+sub.Name)
	}
	action := c.Action
	c.OnUsageError = func(_ *cli.Context, err error, _ bool) error { return Usagef(name, "%v", err) }
	c.Action = func(ctx *cli.Context) error {
		if ctx.Bool("version") {
			return f.Printf("%s\n", versionLine())
		}
		if err := f.Env.checkFolder(name); err != nil {
			return err
		}
		return action(ctx)
	}
}
