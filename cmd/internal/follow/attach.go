package follow

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
)

// attachment stays with an app that somebody else started: unlike a foreground
// run it leaves the app alone unless it is told otherwise.
type attachment struct {
	*Follower
	answers *bufio.Reader
	asks    bool // there is somebody to ask
	out     *tty.Gate

	state   sync.Mutex
	asking  bool // the question is on the screen
	settled bool // it was answered: signals are the follower's now
}

func NewAttachment(f *Follower) *attachment {
	return &attachment{
		Follower: f, answers: bufio.NewReader(f.In), out: tty.NewGate(f.Out),
		asks: tty.IsTerminalInput(f.In) && ui.IsTerminal(f.Err),
	}
}

// Run shows the output to the end, then says how the app ended.
func (a *attachment) Run(ctx context.Context, target LogTarget, q LogQuery) error {
	ctx, a.leave = context.WithCancelCause(ctx)
	defer a.leave(nil)
	a.Interrupts.Take(a.signal)
	err := a.show(ctx, target, q)
	if err == nil {
		err = a.Follow(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	return err
}

// show copies the output to stdout. A log that cannot be read is no reason to
// lose sight of the app.
func (a *attachment) show(ctx context.Context, target LogTarget, q LogQuery) error {
	_, err := CopyLogs(ctx, a.Follower.Factory, a.out, a.OutStyle, a.Runner, target, q, LogStyle{Prefix: true})
	switch {
	case err == nil || ctx.Err() != nil:
		a.endQuestion()
		return ctx.Err()
	case program.IsBrokenPipe(err):
		return program.QuietError(program.ExitPipe)
	}
	a.Warn("the output cannot be shown: %v", err)
	return nil
}

// signal is called for each signal until the app is to be cancelled.
func (a *attachment) signal(s os.Signal) {
	a.state.Lock()
	defer a.state.Unlock()
	switch {
	case a.settled:
		a.Follower.signal(s)
	case s == syscall.SIGHUP:
		a.Follower.signal(s)
		a.out.Fail(context.Canceled)
	case s == os.Interrupt && a.asks && !a.asking:
		a.asking = true
		a.out.Close()
		go a.ask()
	default:
		a.detach(program.QuietError(spec.ExitCancelled))
	}
}

// ask puts the question; output waits for the answer.
func (a *attachment) ask() {
	for {
		fmt.Fprintf(a.Err, "\ntorchx: c cancel %s, d detach from it (default): ", a.Ref.Handle())
		answer, err := a.answers.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "c", "cancel":
			a.settle()
			a.Follower.signal(os.Interrupt)
			return
		case "", "d", "detach":
			a.answeredDetach(err != nil)
			return
		}
		if err != nil {
			return
		}
	}
}

// settle lets the output go on; from now on signals mean what they mean in a run.
func (a *attachment) settle() {
	a.state.Lock()
	defer a.state.Unlock()
	a.asking, a.settled = false, true
	a.out.Open()
}

// answeredDetach detaches, unless the end of the app came first. open says that
// no ENTER has ended the line of the question.
func (a *attachment) answeredDetach(open bool) {
	if s, err := a.Runner.Status(context.Background(), a.Ref); err == nil && s.State.Terminal() {
		a.settle() // nothing goes on: the rest of the output follows, and how it ended
		return
	}
	a.state.Lock()
	defer a.state.Unlock()
	if a.asking {
		a.asking = open
		a.detach(program.QuietError(program.ExitOK))
	}
}

func (a *attachment) detach(how error) {
	if a.asking {
		a.asking = false
		fmt.Fprintln(a.Err)
	}
	a.Say("detached, %s goes on: torchx attach %s", a.Ref.Handle(), a.Ref.Handle())
	a.leave(how)
	a.out.Fail(context.Canceled)
}

// endQuestion leaves the line of a question that the app's end has answered.
func (a *attachment) endQuestion() {
	a.state.Lock()
	defer a.state.Unlock()
	if a.asking {
		a.asking = false
		fmt.Fprintln(a.Err)
	}
}
