// Package runner joins the backends with the history: it plans, submits, finds,
// watches, ends and forgets apps. The backend is the truth about an app; the
// history (package state) remembers what was submitted and what was last seen,
// and everything here goes on, with a warning, when it cannot be used.
package runner

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Runner is what the commands work with. Only Backends is required.
type Runner struct {
	Backends *backend.Registry
	History  history.Store // nil: no history

	// Warn gets one line about something that did not stop the work; nil drops it.
	Warn func(line string)
	// Waiting gets the status of an app whose logs are read when it starts, once; nil drops it.
	Waiting func(s *spec.Status)
	// LookupEnv reads the caller's environment; nil is os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// Rand makes app ids and session ids; nil is the system's secure source.
	Rand func() uint64
	// Now is the clock of records; nil is time.Now.
	Now func() time.Time
	// Alive reports whether the process that Submitter described still runs; nil
	// asks the system.
	Alive func(submitter string) bool
}

// Ref names one app.
type Ref = history.AppKey

// LookupError is a name that leads nowhere; its text is meant for users as it
// is. It wraps backends.ErrNotFound.
type LookupError struct{ Msg string }

func (e *LookupError) Error() string { return e.Msg }

// Unwrap returns backends.ErrNotFound.
func (e *LookupError) Unwrap() error { return backend.ErrNotFound }

func notFound(format string, args ...any) error {
	return &LookupError{fmt.Sprintf(format, args...)}
}

func (r *Runner) warn(format string, args ...any) {
	if r.Warn != nil {
		r.Warn(fmt.Sprintf(format, args...))
	}
}

func (r *Runner) now() time.Time {
	if r.Now != nil {
		return r.Now()
	}
	return failpoint.Now()
}

func (r *Runner) env(name string) (string, bool) {
	if r.LookupEnv != nil {
		return r.LookupEnv(name)
	}
	return os.LookupEnv(name)
}

// random returns 64 random bits.
func (r *Runner) random() uint64 {
	if r.Rand != nil {
		return r.Rand()
	}
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the process instead
	return binary.LittleEndian.Uint64(b[:])
}

// row returns what the history knows of an app, nil if nothing.
func (r *Runner) row(ctx context.Context, ref history.AppKey) *history.App {
	if r.History == nil {
		return nil
	}
	app, err := r.History.Get(ctx, ref.Backend, ref.ID)
	if err != nil {
		if !errors.Is(err, history.ErrNotFound) {
			r.warn("%v", err)
		}
		return nil
	}
	return &app
}

// pause waits a little longer each time, up to max; it ends early with ctx.
type pause struct{ next, max time.Duration }

func (p *pause) wait(ctx context.Context) error {
	t := time.NewTimer(p.next)
	defer t.Stop()
	p.next = min(p.next*3/2, p.max)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// poller is for looking at an app until something changes: often at first, since
// most things happen soon, later twice a second.
func poller() *pause { return &pause{next: 10 * time.Millisecond, max: 500 * time.Millisecond} }
