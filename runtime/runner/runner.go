// Package runner connects backends and history: it plans, submits, finds, watches, cancels
// and removes apps. The backend is the source of truth about an app; the history (package
// state) records what was submitted and the last known status. If the history cannot be
// used, all functions continue with a warning.
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

// Runner provides the operations that commands need. Only Backends is required.
type Runner struct {
	Backends *backend.Registry
	History  history.Store // nil: no history

	// Warn gets a line about a problem that did not stop the operation; nil drops it.
	Warn func(line string)
	// Waiting is called once when logs are requested before the app has started; may be nil.
	Waiting func(s *spec.Status)
	// LookupEnv reads the caller's environment; nil means os.LookupEnv.
	LookupEnv func(name string) (string, bool)
	// Rand provides random bits for app and session IDs; nil means the system's secure source.
	Rand func() uint64
	// Now is the clock of records; nil means time.Now.
	Now func() time.Time
	// Alive reports whether the process described by Submitter still runs; nil means to ask
	// the system.
	Alive func(submitter string) bool
}

// Ref identifies an app.
type Ref = history.AppKey

// LookupError means that a name was not found; its text is shown to users unchanged. It
// wraps backend.ErrNotFound.
type LookupError struct{ Msg string }

func (e *LookupError) Error() string { return e.Msg }

// Unwrap returns backend.ErrNotFound.
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
	_, _ = rand.Read(b[:]) // never fails: on error it ends the process
	return binary.LittleEndian.Uint64(b[:])
}

// row returns an app's record in the history, nil if it has none.
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

// pause waits a little longer each time, up to max.
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

// newPoller returns the pauses for polling an app: short at first, since most changes happen
// early, then half a second.
func newPoller() *pause { return &pause{next: 10 * time.Millisecond, max: 500 * time.Millisecond} }
