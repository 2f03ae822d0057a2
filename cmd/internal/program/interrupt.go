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

// How long a command may go on after the second Ctrl-C: it may hang where a context does
// not reach.
const (
	ownGrace   = time.Second     // by itself
	takenGrace = 5 * time.Second // of a command that kills its app at the second one
	lastWord   = 100 * time.Millisecond
)

// Interrupts hands each signal to one function: at first it ends the context,
// later a command may take over. After the second Ctrl-C the process ends in any case.
type Interrupts struct {
	mu      sync.Mutex
	handle  func(os.Signal)
	grace   time.Duration
	abandon func() // ends the process
	done    chan struct{}
	stopped sync.Once
}

// watchSignals returns a context that Ctrl-C, SIGTERM or a hang-up ends.
func watchSignals(ctx context.Context, signals <-chan os.Signal) (context.Context, *Interrupts) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &Interrupts{grace: ownGrace, done: make(chan struct{}), abandon: func() { os.Exit(spec.ExitCancelled) }}
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

// loop counts; another goroutine handles, since that may block.
func (i *Interrupts) loop(signals <-chan os.Signal) {
	queue := make(chan os.Signal, cap(signals)+1)
	go i.dispatch(queue)
	for count := 0; ; {
		select {
		case s := <-signals:
			if s != syscall.SIGHUP {
				count++
			}
			if count == 2 {
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
	select {
	case <-i.done:
	default:
		i.mu.Lock()
		abandon := i.abandon
		i.mu.Unlock()
		abandon()
	}
}

func (i *Interrupts) abandonBy(f func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.abandon = f
}

// abandonWith returns what ends a process that does not end by itself. The terminal is as
// it was when abandonWith was called.
func (f *Factory) abandonWith(exit func(code int)) func() {
	restore := func() error { return nil }
	if in, ok := f.In.(*os.File); ok {
		if before, err := term.GetState(int(in.Fd())); err == nil {
			restore = func() error { return term.Restore(int(in.Fd()), before) }
		}
	}
	return func() {
		_ = restore() // there is nothing left to do
		go f.SayError("interrupted twice: ended without waiting any longer")
		time.Sleep(lastWord) // stderr may be blocked
		exit(spec.ExitCancelled)
	}
}

// Take makes f the function that gets the signals, one at a time.
func (i *Interrupts) Take(f func(os.Signal)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handle, i.grace = f, takenGrace
}

func (i *Interrupts) stop() { i.stopped.Do(func() { close(i.done) }) }
