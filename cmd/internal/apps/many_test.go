package apps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
)

func someTargets(n int) (targets []Target) {
	for i := range n {
		targets = append(targets, Target{Ref: runner.Ref{Backend: "local", ID: strconv.Itoa(i)}})
	}
	return targets
}

// TestEachApp: results come in the order of the apps, each failure is one line, and no more apps
// than the limit are handled at the same time.
func TestEachApp(t *testing.T) {
	t.Parallel()
	const limit = 4
	var messages bytes.Buffer
	f := program.NewFactory(ui.Streams{Err: &messages}, program.Environment{}, program.Definition{}, nil)
	targets := someTargets(1000)
	targets[5].Err = errors.New("no app 5")
	var running, most atomic.Int32
	act := func(_ context.Context, ref runner.Ref) (string, error) {
		n := running.Add(1)
		defer running.Add(-1)
		for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
		}
		if strings.HasSuffix(ref.ID, "77") {
			return "", fmt.Errorf("app %s failed", ref.ID)
		}
		return ref.ID, nil
	}
	var got []string
	err := EachApp(t.Context(), f, targets, limit, act, func(ref runner.Ref, value string) error {
		if value != ref.ID {
			t.Errorf("got the result of %s for %s", value, ref.ID)
		}
		got = append(got, value)
		return nil
	})
	if err == nil || program.ExitCode(t.Context(), err) != program.ExitError {
		t.Errorf("got %v, want exit code %d", err, program.ExitError)
	}
	last := -1
	for _, text := range got {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if n <= last {
			t.Fatalf("got app %d after %d, want the order of the command line", n, last)
		}
		last = n
	}
	if len(got) != 989 {
		t.Errorf("got %d results, want 989", len(got))
	}
	if n := strings.Count(messages.String(), "\n"); n != 11 || !strings.HasPrefix(messages.String(), "torchx: error: no app 5\ntorchx: error: app 77 failed\n") {
		t.Errorf("got %d messages %q, want 11 in the order of the apps", n, messages.String())
	}
	if n := most.Load(); n > limit {
		t.Errorf("got %d apps at the same time, want at most %d", n, limit)
	}
}

// TestEachAppInterrupted: Ctrl-C begins no more apps, and what was done is still reported.
func TestEachAppInterrupted(t *testing.T) {
	t.Parallel()
	var messages bytes.Buffer
	f := program.NewFactory(ui.Streams{Err: &messages}, program.Environment{}, program.Definition{}, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	act := func(ctx context.Context, ref runner.Ref) (struct{}, error) {
		if ref.ID == "2" {
			cancel(program.ErrInterrupted)
		}
		if ref.ID > "2" {
			return struct{}{}, ctx.Err()
		}
		return struct{}{}, nil
	}
	done := 0
	err := EachApp(ctx, f, someTargets(10), 1, act, func(runner.Ref, struct{}) error {
		done++
		return nil
	})
	if !errors.Is(err, program.ErrInterrupted) || done != 3 || messages.Len() > 0 {
		t.Errorf("got %v, %d apps done, messages %q; want an interruption after 3 apps", err, done, messages.String())
	}
}

// TestEachAppOnly: the error of an only app is not explained here, and a failing output stops.
func TestEachAppOnly(t *testing.T) {
	t.Parallel()
	f := program.NewFactory(ui.Streams{}, program.Environment{}, program.Definition{}, nil)
	failure := errors.New("it failed")
	fail := func(context.Context, runner.Ref) (struct{}, error) { return struct{}{}, failure }
	if err := EachApp(t.Context(), f, someTargets(1), 1, fail, nil); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
	succeed := func(context.Context, runner.Ref) (struct{}, error) { return struct{}{}, nil }
	closed := func(runner.Ref, struct{}) error { return failure }
	if err := EachApp(t.Context(), f, someTargets(100), 2, succeed, closed); !errors.Is(err, failure) {
		t.Errorf("got %v, want %v", err, failure)
	}
}
