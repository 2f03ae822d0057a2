package program

import (
	"context"
	"os"
	"sync"
	"syscall"
)

// interrupts hands each signal to whoever is in charge: at first it ends the
// context, later a command may take over.
type interrupts struct {
	mu      sync.Mutex
	handle  func(os.Signal)
	done    chan struct{}
	stopped sync.Once
}

// watchSignals returns a context that Ctrl-C, SIGTERM or a hang-up ends.
func watchSignals(ctx context.Context, signals <-chan os.Signal) (context.Context, *interrupts) {
	ctx, cancel := context.WithCancelCause(ctx)
	i := &interrupts{done: make(chan struct{})}
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

func (i *interrupts) loop(signals <-chan os.Signal) {
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

// Take makes f the one that signals are handed to, one at a time.
func (i *interrupts) Take(f func(os.Signal)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handle = f
}

func (i *interrupts) stop() { i.stopped.Do(func() { close(i.done) }) }
