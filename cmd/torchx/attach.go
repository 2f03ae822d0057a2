package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// attachment stays with an app that somebody else started: unlike a foreground
// run it leaves the app alone unless it is told otherwise.
type attachment struct {
	*follower
	answers *bufio.Reader
	asks    bool // there is somebody to ask
	out     *gate

	state   sync.Mutex
	asking  bool // the question is on the screen
	settled bool // it was answered: signals are the follower's now
}

func newAttachment(f *follower) *attachment {
	return &attachment{
		follower: f, answers: bufio.NewReader(f.in), out: newGate(f.out),
		asks: isTerminalInput(f.in) && isTerminal(f.err),
	}
}

// run shows the output to the end, then says how the app ended.
func (a *attachment) run(ctx context.Context, target logTarget, q logQuery) error {
	ctx, a.leave = context.WithCancelCause(ctx)
	defer a.leave(nil)
	a.interrupts.take(a.signal)
	err := a.show(ctx, target, q)
	if err == nil {
		err = a.follow(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	return err
}

// show copies the output to stdout. A log that cannot be read is no reason to
// lose sight of the app.
func (a *attachment) show(ctx context.Context, target logTarget, q logQuery) error {
	_, err := a.copyLogs(ctx, a.out, a.outStyle, a.runner, target, q, logStyle{prefix: true})
	switch {
	case err == nil || ctx.Err() != nil:
		a.endQuestion()
		return ctx.Err()
	case isBrokenPipe(err):
		return quietError{exitPipe}
	}
	a.warn("the output cannot be shown: %v", err)
	return nil
}

// signal is called for each signal until the app is to be cancelled.
func (a *attachment) signal(s os.Signal) {
	a.state.Lock()
	defer a.state.Unlock()
	switch {
	case a.settled:
		a.follower.signal(s)
	case s == syscall.SIGHUP:
		a.follower.signal(s)
		a.out.fail(context.Canceled)
	case s == os.Interrupt && a.asks && !a.asking:
		a.asking = true
		a.out.close()
		go a.ask()
	default:
		a.detach(quietError{exitInterrupted})
	}
}

// ask puts the question; output waits for the answer.
func (a *attachment) ask() {
	for {
		fmt.Fprintf(a.err, "\ntorchx: c cancel %s, d detach from it (default): ", a.ref.Handle())
		answer, err := a.answers.ReadString('\n')
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "c", "cancel":
			a.settle()
			a.follower.signal(os.Interrupt)
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
	a.out.open()
}

// answeredDetach detaches, unless the end of the app came first. open says that
// no ENTER has ended the line of the question.
func (a *attachment) answeredDetach(open bool) {
	if s, err := a.runner.Status(context.Background(), a.ref); err == nil && s.State.Terminal() {
		a.settle() // nothing goes on: the rest of the output follows, and how it ended
		return
	}
	a.state.Lock()
	defer a.state.Unlock()
	if a.asking {
		a.asking = open
		a.detach(quietError{exitOK})
	}
}

func (a *attachment) detach(how error) {
	if a.asking {
		a.asking = false
		fmt.Fprintln(a.err)
	}
	a.say("detached, %s goes on: torchx attach %s", a.ref.Handle(), a.ref.Handle())
	a.leave(how)
	a.out.fail(context.Canceled)
}

// endQuestion leaves the line of a question that the app's end has answered.
func (a *attachment) endQuestion() {
	a.state.Lock()
	defer a.state.Unlock()
	if a.asking {
		a.asking = false
		fmt.Fprintln(a.err)
	}
}

// gate is a writer that can hold writes up.
type gate struct {
	w io.Writer

	mu   sync.Mutex
	cond *sync.Cond
	shut bool
	err  error // of every write, once it is set
}

func newGate(w io.Writer) *gate {
	g := &gate{w: w}
	g.cond = sync.NewCond(&g.mu)
	return g
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	for g.shut && g.err == nil {
		g.cond.Wait()
	}
	err := g.err
	g.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return g.w.Write(p)
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	g.cond.Broadcast()
}

// fail ends writes, held up or not.
func (g *gate) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
	g.cond.Broadcast()
}

// isTerminalInput reports whether r is a terminal to read answers from.
func isTerminalInput(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
