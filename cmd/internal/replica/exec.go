// Package replica has the commands that reach into a running replica: exec runs a command in it,
// port-forward connects to its ports, cp copies its files.
package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/grammar"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
)

// oneReplica explains how the command line names a replica.
const oneReplica = "ROLE and ID may be left out if there is only one. "

// execOptions are the flags of `exec`.
type execOptions struct {
	input, tty bool
}

// NewExec returns the command `exec`.
func NewExec(f *program.Factory) *cli.Command {
	o := execOptions{}
	return &cli.Command{
		Name:  "exec",
		Usage: "run a command in a replica",
		UsageText: "HANDLE[/ROLE[/ID]] [-i] [-t] [--] COMMAND [ARGUMENT...]\n" +
			"torchx exec - -- env\n" +
			"torchx exec -t - -- sh\n" +
			"echo hello | torchx exec -i sh/sh/0 -- cat",
		Description: "Run a command in a running replica, with the replica's environment and in its folder, and exit with the command's exit " +
			"code. Ctrl-C and SIGTERM are passed on to the command. " + oneReplica + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "interactive", Aliases: []string{"i", "stdin"}, Usage: "pass stdin on to the command", Destination: &o.input},
			&cli.BoolFlag{Name: "tty", Aliases: []string{"t"}, Usage: "run the command on a terminal of its own; implies -i", Destination: &o.tty},
		},
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return program.Missing(c, "HANDLE")
			case 1:
				return &grammar.UsageError{
					Command: "exec", HasRemedy: true,
					Text: fmt.Sprintf("missing COMMAND: `torchx exec -t %s -- sh` opens a shell", c.Args().First()),
				}
			}
			return execute(c.Context, f, c.Args().First(), c.Args().Tail(), o)
		},
	}
}

// hangupTime is how long a command may run on after the terminal was closed.
const hangupTime = 2 * time.Second

func execute(
	ctx context.Context, f *program.Factory, target string, args []string, o execOptions,
) (err error) {
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	in, err := runner.FindInside(ctx, r, target, "exec", func(c backend.Capabilities) backend.Executor { return c.Exec })
	if err != nil {
		return err
	}
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	c := backend.Command{Args: args, Stdout: f.Out, Stderr: f.Err, Signals: forwarded(f, leave)}
	if o.input || o.tty {
		c.Stdin = f.In
	}
	if o.tty {
		remote, err := tty.NewRemote(ctx, f.In, f.Out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, remote.Close()) }()
		c.Terminal, c.Resizes, c.Stdin, c.Stdout = &remote.Size, remote.Resizes, tty.Typed(ctx, f.In), remote.Out
	}
	code, err := in.Backend.Exec(ctx, in.Ref.ID, in.Replica, c)
	return result(ctx, in.String(), code, err)
}

// forwarded returns the signals that this process receives from now on. After a hangup the
// command has hangupTime to end.
func forwarded(f *program.Factory, leave context.CancelCauseFunc) <-chan os.Signal {
	signals := make(chan os.Signal, 8)
	f.Interrupts.SetHandler(func(s os.Signal) {
		select {
		case signals <- s:
		default: // the command does not handle those before it
		}
		if s == syscall.SIGHUP {
			time.AfterFunc(hangupTime, func() { leave(program.QuietError(program.ExitHangup)) })
		}
	})
	return signals
}

// result returns the error that ends the program with the exit code of a command.
func result(ctx context.Context, target string, code int, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("exec in %s failed: %w", target, err)
	case code != 0:
		return program.QuietError(code)
	}
	return nil
}
