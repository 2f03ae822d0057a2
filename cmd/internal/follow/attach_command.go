package follow

import (
	"context"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
)

// attachOptions are the flags of `attach`.
type attachOptions struct {
	all bool
	tty TtyOptions
}

// NewAttach returns the command `attach`.
func NewAttach(f *program.Factory) *cli.Command {
	o := attachOptions{}
	return &cli.Command{
		Name:  "attach",
		Usage: "follow a running app",
		UsageText: "HANDLE[/ROLE[/ID,...]] [--all]\n" +
			"torchx attach -\n" +
			"torchx attach --all echo\n" +
			"torchx attach --tty -",
		Description: "Follow an app as `torchx run` does: print new output of its replicas, each line with its role and replica, then how " +
			"the app ended, and exit with its exit code. " +
			program.HandleHelp +
			" On a terminal Ctrl-C asks whether to cancel the app or to detach; a second Ctrl-C detaches. Without a terminal " +
			"Ctrl-C detaches. The app goes on after a detach. With --tty, connect your terminal again to an app that `torchx run " +
			"--tty` started.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "print the output from the start of the app", Destination: &o.all},
			TtyFlag(&o.tty, "connect the terminal to an app that was started with --tty"),
			DetachKeysFlag(&o.tty),
		},
		Action: func(c *cli.Context) error {
			target, err := program.OneArgument(c, "HANDLE")
			if err != nil {
				return err
			}
			if err := o.tty.Check("attach"); err != nil {
				return err
			}
			return attach(c.Context, f, target, o)
		},
	}
}

func attach(ctx context.Context, f *program.Factory, text string, o attachOptions) error {
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	target, err := resolveLog(ctx, r, text)
	if err != nil {
		return err
	}
	s, err := r.See(ctx, target.Ref)
	if err != nil {
		return err
	}
	if err := r.CheckReplicas(ctx, target.Ref, s.Status, target.Role, target.IDs); err != nil {
		return err
	}
	if !s.State.Started() && !s.IsFinal() {
		SayWaiting(f.Console, s.Status)
	}
	if o.tty.On {
		return AttachTerminal(ctx, f, target.Ref, s.Status, o.all, o.tty)
	}
	if s.IsFinal() && !o.all {
		return Attach(ctx, f, r, target.Ref, nil)
	}
	q := LogRequest{Target: target, Prefix: true, Read: backend.LogOptions{Follow: true, Partial: true}}
	if o.all || !s.State.Started() { // of an app that has not started all output is new
		q.Read.Tail, q.Read.AllAttempts = -1, true
	}
	return Attach(ctx, f, r, target.Ref, &q)
}
