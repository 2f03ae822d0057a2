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
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// attachment follows an app that another command started. Unlike in a foreground run, Ctrl-C
// asks whether to cancel the app or to leave it running.
type attachment struct {
	app
	signals *signals // handles signals once the user has chosen to cancel
	answers *bufio.Reader
	canAsk  bool
	out     *tty.Gate // closed while the question is shown

	restarts *Announcer

	mu       sync.Mutex
	asking   bool
	answered bool
}

// Attach prints the output of a running app and then how it ended. Without a request for logs
// it only prints how the app ended.
func Attach(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, logs *LogRequest,
) error {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	a := &attachment{
		app: app{f.Console, r, ref}, answers: bufio.NewReader(f.In), out: tty.NewGate(f.Out),
		canAsk: f.CanAsk(),
	}
	a.signals = &signals{app: a.app, leave: leave, explain: f.Explain, work: f.Interrupts.Work, submitted: true}
	defer a.signals.close()
	target := LogTarget{Ref: ref}
	if logs != nil {
		target = logs.Target
	}
	a.restarts = Announce(f.Console, r, target, logs != nil)
	defer a.restarts.Stop()
	if logs == nil {
		return a.result(ctx, a.signals.interrupted, false)
	}
	f.Interrupts.SetHandler(a.handle)
	err := a.printLogs(ctx, *logs)
	if err == nil {
		err = a.result(ctx, a.signals.interrupted, false)
	}
	return causeOf(ctx, err)
}

// printLogs prints the output on stdout until the app has ended.
func (a *attachment) printLogs(ctx context.Context, q LogRequest) error {
	p := LogPrinter{Console: a.Console, Runner: a.runner, Out: a.out, Color: a.OutStyle.Color, Restarts: a.restarts}
	_, err := p.Print(ctx, q)
	if err == nil || ctx.Err() != nil {
		a.endQuestion()
	}
	return a.logError(ctx, err)
}

// handle is called for each signal.
func (a *attachment) handle(s os.Signal) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.answered:
		a.signals.handle(s)
	case s == syscall.SIGHUP:
		a.signals.handle(s)
		a.out.Fail(context.Canceled)
	case s == os.Interrupt && a.canAsk && !a.asking:
		a.asking = true
		a.out.Close()
		go a.ask()
	default:
		a.detach(program.QuietError(spec.ExitCancelled))
	}
}

// ask asks whether to cancel or to detach; output is held back until the answer.
func (a *attachment) ask() {
	for {
		fmt.Fprintf(a.Err, "\ntorchx: c cancel %s, d detach from it (default): ", a.ref.Handle())
		answer, err := a.answers.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "c", "cancel":
			a.resume()
			a.signals.handle(os.Interrupt)
			return
		case "", "d", "detach":
			a.answerDetach(err != nil)
			return
		}
		if err != nil {
			return
		}
	}
}

// resume lets the output continue; from now on signals are handled as in a run.
func (a *attachment) resume() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asking, a.answered = false, true
	a.out.Open()
}

// answerDetach detaches, unless the app has ended meanwhile: then the remaining output and
// the result are printed. openLine: the line of the question was not ended by ENTER.
func (a *attachment) answerDetach(openLine bool) {
	if s, err := a.runner.Status(context.Background(), a.ref); err == nil && s.State.Terminal() {
		a.resume()
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.asking {
		a.asking = openLine
		a.detach(program.QuietError(program.ExitOK))
	}
}

func (a *attachment) detach(exit error) {
	a.endQuestionLine()
	a.Say("detached, %s keeps running: torchx attach %s", a.ref.Handle(), a.ref.Handle())
	a.signals.leave(exit)
	a.out.Fail(context.Canceled)
}

// endQuestion ends the line of a question if the app ended before the answer.
func (a *attachment) endQuestion() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.endQuestionLine()
}

func (a *attachment) endQuestionLine() {
	if a.asking {
		a.asking = false
		fmt.Fprintln(a.Err)
	}
}
