package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancelCause(t.Context())
	stop(ErrInterrupted)
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"success", t.Context(), nil, 0},
		{"plain", t.Context(), errors.New("x"), 1},
		{"usage", t.Context(), fmt.Errorf("a: %w", Usagef("run", "x")), 2},
		{"component arguments", t.Context(), fmt.Errorf("a: %w", &component.UsageError{}), 2},
		{"not found", t.Context(), fmt.Errorf("a: %w", &backend.StartError{Code: 127, Err: errors.New("x")}), 127},
		{"not executable", t.Context(), &backend.StartError{Code: 126, Err: errors.New("x")}, 126},
		{"not started", t.Context(), &backend.StartError{Code: 1, Err: errors.New("x")}, 125},
		{"interrupted", stopped, fmt.Errorf("read: %w", context.Canceled), 130},
		{"canceled without a signal", t.Context(), context.Canceled, 1},
		{"app succeeded", t.Context(), AppExit(&spec.Status{State: spec.Succeeded, ExitCode: code(0)}), 0},
		{"app failed", t.Context(), AppExit(&spec.Status{State: spec.Failed, ExitCode: code(42)}), 42},
		{"app failed somehow", t.Context(), AppExit(&spec.Status{State: spec.Failed, ExitCode: code(0)}), 1},
		{"app cancelled", t.Context(), AppExit(&spec.Status{State: spec.Cancelled, ExitCode: code(143)}), 130},
	} {
		if got := ExitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// newTestFactory returns a factory and what it prints on stderr.
func newTestFactory(vars ...string) (*Factory, *strings.Builder) {
	var errs strings.Builder
	return NewFactory(ui.Streams{Err: &errs, Out: io.Discard}, Environment{Vars: vars}, Definition{}, nil), &errs
}

func TestReport(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancelCause(t.Context())
	leave(QuietError(ExitHangup))
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code int
		text string
	}{
		{t.Context(), QuietError(7), 7, ""},
		{t.Context(), &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 0, ""},
		{gone, context.Canceled, ExitHangup, ""},
		{t.Context(), errors.New("a\x1b[2J\nb"), 1, `torchx: error: a\x1b[2J\nb` + "\n"},
		{t.Context(), Usagef("list", "no."), 2, "torchx: error: list: no (see torchx list --help)\n"},
		{t.Context(), ErrInterrupted, 130, "torchx: interrupted\n"},
	} {
		f, errs := newTestFactory()
		if got := f.Report(c.ctx, c.err); got != c.code || errs.String() != c.text {
			t.Errorf("%v: got %d and %q, want %d and %q", c.err, got, errs.String(), c.code, c.text)
		}
	}
}

func TestCrashIsOneLine(t *testing.T) {
	t.Parallel()
	f, errs := newTestFactory()
	if code := f.crash("index\nout of range"); code != ExitError || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("code %d, %q", code, errs.String())
	}
	f, errs = newTestFactory("TORCHX_DEBUG=1")
	if f.crash("x"); !strings.Contains(errs.String(), "goroutine ") {
		t.Errorf("no trace: %q", errs.String())
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	f, errs := newTestFactory("LOGLEVEL=ERROR")
	must(t, f.setLevel("", false))
	f.Say("said")
	f.Warn("warned")
	f.SayError("failed")
	if errs.String() != "torchx: error: failed\n" {
		t.Errorf("got %q", errs.String())
	}
	must(t, f.setLevel("debug", true))
	errs.Reset()
	f.Warn("warned")
	if errs.String() != "torchx: warning: warned\n" {
		t.Errorf("got %q", errs.String())
	}
}
