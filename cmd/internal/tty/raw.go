package tty

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

// Remote is the user's terminal while it shows a terminal that is elsewhere.
type Remote struct {
	Size    backend.TerminalSize
	Resizes <-chan backend.TerminalSize // later sizes
	Out     io.Writer                   // for its output

	out     io.Writer
	modes   ScreenModes
	restore func() error
	stop    func()
}

// Typed returns input for a remote terminal. At its end it types EOF until ctx ends: an EOF after
// an incomplete line only ends the line.
func Typed(ctx context.Context, in io.Reader) io.Reader { return &typed{ctx: ctx, in: in} }

type typed struct {
	ctx   context.Context //nolint:containedctx // of the command that reads
	in    io.Reader
	pause time.Duration // before the next EOF
	ended bool
}

func (t *typed) Read(p []byte) (int, error) {
	if !t.ended {
		if n, err := t.in.Read(p); n > 0 || err == nil || len(p) == 0 {
			return n, nil
		}
		t.ended = true
	}
	select {
	case <-time.After(t.pause):
	case <-t.ctx.Done():
		return 0, io.EOF
	}
	t.pause = max(backend.MinEOFPause, min(2*t.pause, backend.MaxEOFPause))
	p[0] = backend.EndOfFile
	return 1, nil
}

// NewRemote puts the terminal into raw mode, if in is one, so that every key is input. Close ends
// that.
func NewRemote(ctx context.Context, in io.Reader, out io.Writer) (*Remote, error) {
	r := &Remote{out: out, restore: func() error { return nil }}
	r.Out = observed{r}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		before, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			return nil, fmt.Errorf("set up the terminal: %w", err)
		}
		r.restore = sync.OnceValue(func() error { return term.Restore(int(f.Fd()), before) })
	}
	window := FirstTerminal(out, in)
	r.Size = SizeOf(window)
	sizes := make(chan backend.TerminalSize)
	r.Resizes = sizes
	ctx, cancel := context.WithCancel(ctx)
	resized, stop := Resizes()
	r.stop = func() { cancel(); stop() }
	go func() {
		for {
			select {
			case <-resized:
			case <-ctx.Done():
				return
			}
			select {
			case sizes <- SizeOf(window):
			case <-ctx.Done():
				return
			}
		}
	}()
	return r, nil
}

// Close resets the modes that a program left and restores the terminal.
func (r *Remote) Close() error {
	r.stop()
	if ui.IsTerminal(r.out) {
		_, _ = io.WriteString(r.out, r.modes.Reset()) // the terminal may be closed
	}
	return r.restore()
}

// observed writes output and notes the modes that it sets.
type observed struct{ *Remote }

func (o observed) Write(p []byte) (int, error) {
	o.modes.Observe(p)
	return o.out.Write(p)
}
