package program

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// Interrupts hands each signal to one function: at first it ends the context,
// later a command may take over.
type Interrupts struct {
	mu      sync.Mutex
	handle  func(os.Signal)
	done    chan struct{}
	stopped sync.Once
}

// watchSignals returns a context that Ctrl-C, SIGTERM or a hang-up ends.
func watchSignals(ctx context.Context, signals <-chan os.Signal) (context.Context, *Interrupts) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &Interrupts{done: make(chan struct{})}
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

func (i *Interrupts) loop(signals <-chan os.Signal) {
	for {
		select {
		case s := <-signals:
			i.mu.Lock()
			handle := i.handle
			i.mu.Unlock()
			handle(s)
		case <-i.done:
			return
		}
	}
}

// Take makes f the function that gets the signals, one at a time.
func (i *Interrupts) Take(f func(os.Signal)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handle = f
}

func (i *Interrupts) stop() { i.stopped.Do(func() { close(i.done) }) }
