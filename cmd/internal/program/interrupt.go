package program

import (
	"context"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"torchx/runtime/spec"
)

// How long a command may run after the second Ctrl-C. It may hang where canceling its
// context has no effect.
const (
	grace       = time.Second
	workTime    = 5 * time.Second        // while it kills its app
	messageTime = 100 * time.Millisecond // to print the last message
)

// Interrupts passes each signal to a handler. The first handler cancels the context; a
// command may replace it. After the second Ctrl-C the process ends in any case.
type Interrupts struct {
	mu      sync.Mutex
	handle  func(os.Signal)
	working int       // parts of the command that no second Ctrl-C may cut
	worked  time.Time // when the last of them ended
	grace   time.Duration
	abandon func() // ends the process
	done    chan struct{}
	stopped sync.Once
}

// watchSignals returns a context that Ctrl-C, SIGTERM or SIGHUP cancels.
func watchSignals(ctx context.Context, signals <-chan os.Signal) (context.Context, *Interrupts) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &Interrupts{grace: grace, done: make(chan struct{}), abandon: func() { os.Exit(spec.ExitCancelled) }}
	i.handle = func(s os.Signal) {
		if s == syscall.SIGHUP {
			cancel(QuietError(ExitHangup))
			return
		}
		cancel(ErrInterrupted)
	}
	go i.loop(signals)
	return ctx, i
}

// loop counts signals; dispatch handles them, because a handler may block.
func (i *Interrupts) loop(signals <-chan os.Signal) {
	queue := make(chan os.Signal, cap(signals)+1)
	go i.dispatch(queue)
	for count := 0; ; {
		select {
		case s := <-signals:
			if count++; count == 2 {
				i.mu.Lock()
				time.AfterFunc(i.grace, i.force)
				i.mu.Unlock()
			}
			select {
			case queue <- s:
			default: // the handler is stuck
			}
		case <-i.done:
			return
		}
	}
}

func (i *Interrupts) dispatch(queue <-chan os.Signal) {
	for {
		select {
		case s := <-queue:
			i.mu.Lock()
			handle := i.handle
			i.mu.Unlock()
			handle(s)
		case <-i.done:
			return
		}
	}
}

func (i *Interrupts) force() {
	for deadline := time.Now().Add(workTime - grace); ; {
		select {
		case <-i.done:
			return
		case <-time.After(messageTime / 10):
		}
		i.mu.Lock()
		abandon, idle := i.abandon, i.working == 0 && time.Since(i.worked) >= i.grace
		i.mu.Unlock()
		if idle || time.Now().After(deadline) {
			abandon()
			return
		}
	}
}

// Work keeps the second Ctrl-C from ending the process until done is called, and for as long as
// other commands have then; in all at most workTime.
func (i *Interrupts) Work() (done func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.working++
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.working--
		i.worked = time.Now()
	}
}

func (i *Interrupts) setAbandon(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.abandon = f
}

// abandonWith returns a function that ends a hanging process and restores the terminal to
// its state at the call of abandonWith.
func (f *Factory) abandonWith(exit func(code int)) func() {
	restore := func() error { return nil }
	if in, ok := f.In.(*os.File); ok {
		if before, err := term.GetState(int(in.Fd())); err == nil {
			restore = func() error { return term.Restore(int(in.Fd()), before) }
		}
	}
	return func() {
		_ = restore() // the process ends in any case
		go f.SayError("interrupted twice: exiting immediately")
		time.Sleep(messageTime) // stderr may be blocked
		exit(spec.ExitCancelled)
	}
}

// SetHandler makes f the handler of signals, which gets one at a time.
func (i *Interrupts) SetHandler(f func(os.Signal)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handle = f
}

func (i *Interrupts) stop() { i.stopped.Do(func() { close(i.done) }) }
