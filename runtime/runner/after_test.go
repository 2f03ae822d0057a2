package runner

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// eventually waits until ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for p := newPoller(); !ok(); {
		if p.wait(ctx) != nil {
			t.Fatalf("timed out: %s", what)
		}
	}
}

// TestSubmitAfter: for a backend that cannot wait for other apps Submit does, visibly, until they
// have ended as required or the app is canceled.
func TestSubmitAfter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  func(w *world, first, second *Planned) error
		any  bool
		want spec.State
		msg  string
	}{
		"succeeds": {func(w *world, first, _ *Planned) error { w.local.finish(first.Plan.ID, spec.Succeeded, 0); return nil }, false, spec.Running, ""},
		"fails":    {func(w *world, first, _ *Planned) error { w.local.finish(first.Plan.ID, spec.Failed, 3); return nil }, false, spec.Cancelled, "ended FAILED"},
		"any":      {func(w *world, first, _ *Planned) error { w.local.finish(first.Plan.ID, spec.Failed, 3); return nil }, true, spec.Running, ""},
		"canceled": {func(w *world, _, second *Planned) error {
			return w.Cancel(t.Context(), second.Ref(), backend.CancelOptions{})
		}, false, spec.Cancelled, "canceled before it was submitted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first, second := w.plan(t), w.plan(t)
			if _, err := w.Submit(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			second.Plan.After = []backend.After{{App: first.Ref(), Any: c.any}}
			if here, err := w.SettleAfter(t.Context(), second); err != nil || len(here) != 1 || len(second.Plan.After) != 0 {
				t.Fatalf("got %v, %v, want a wait of Submit", here, err)
			}
			ended := make(chan error, 1)
			go func() { _, err := w.Submit(t.Context(), second); ended <- err }()
			eventually(t, "the record says what the app waits for", func() bool {
				s := w.LastStatus(t.Context(), second.Ref())
				return s != nil && strings.HasPrefix(s.Msg, "preparing: wait for "+first.Ref().Handle()+" to ")
			})
			if err := c.act(w, first, second); err != nil {
				t.Fatal(err)
			}
			err := <-ended
			var start *backend.StartError
			if started := c.want == spec.Running; started != (err == nil) ||
				!started && (!errors.As(err, &start) || start.Code != spec.ExitCancelled) {
				t.Errorf("got %v, want code %d unless it starts", err, spec.ExitCancelled)
			}
			if s := w.LastStatus(t.Context(), second.Ref()); s.State != c.want || !strings.Contains(s.Msg, c.msg) {
				t.Errorf("got %s: %s, want %s: %s", s.State, s.Msg, c.want, c.msg)
			}
		})
	}
}

// TestSettleAfter: an app that has ended is decided at once, an unknown one is an error.
func TestSettleAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.plan(t), w.plan(t)
	if _, err := w.Submit(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	w.local.finish(first.Plan.ID, spec.Cancelled, spec.ExitCancelled)
	for _, anyEnd := range []bool{true, false} {
		second.Plan.After = []backend.After{{App: first.Ref(), Any: anyEnd}}
		here, err := w.SettleAfter(t.Context(), second)
		if unmet := errors.As(err, new(*backend.UnmetError)); unmet == anyEnd || len(here) > 0 {
			t.Errorf("any=%v: got %v, %v", anyEnd, here, err)
		}
	}
	third := w.plan(t)
	second.Plan.After = []backend.After{{App: third.Ref()}}
	if _, err := w.SettleAfter(t.Context(), second); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("got %v, want %v", err, backend.ErrNotFound)
	}
}
