package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/starlark/component"
)

func TestExitCodes(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errInterrupted)
	code := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		want int
	}{
		{"success", t.Context(), nil, 0},
		{"plain", t.Context(), errors.New("x"), 1},
		{"usage", t.Context(), fmt.Errorf("a: %w", usagef("run", "x")), 2},
		{"component arguments", t.Context(), fmt.Errorf("a: %w", &component.UsageError{}), 2},
		{"not found", t.Context(), fmt.Errorf("a: %w", &backend.StartError{Code: 127, Err: errors.New("x")}), 127},
		{"not executable", t.Context(), &backend.StartError{Code: 126, Err: errors.New("x")}, 126},
		{"not started", t.Context(), &backend.StartError{Code: 1, Err: errors.New("x")}, 125},
		{"interrupted", stopped, fmt.Errorf("read: %w", context.Canceled), 130},
		{"canceled by nobody", t.Context(), context.Canceled, 1},
		{"app succeeded", t.Context(), appExit(&spec.Status{State: spec.Succeeded, ExitCode: code(0)}), 0},
		{"app failed", t.Context(), appExit(&spec.Status{State: spec.Failed, ExitCode: code(42)}), 42},
		{"app failed somehow", t.Context(), appExit(&spec.Status{State: spec.Failed, ExitCode: code(0)}), 1},
		{"app cancelled", t.Context(), appExit(&spec.Status{State: spec.Cancelled, ExitCode: code(143)}), 130},
	} {
		if got := exitCode(c.ctx, c.err); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// TestInterruptedEvaluation: Ctrl-C is Ctrl-C also while a built-in component is evaluated.
func TestInterruptedEvaluation(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errInterrupted)
	tool, errs := testTool("HOME=" + t.TempDir())
	tool.env.dir = t.TempDir()
	loader, err := tool.loader()
	must(t, err)
	found, err := loader.Find(t.Context(), "utils.echo")
	must(t, err)
	_, err = found.Build(stopped, component.Inputs{})
	if code := tool.report(stopped, plainly(found, err)); code != exitInterrupted || errs.String() != "torchx: interrupted\n" {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
}

// testTool is a tool that keeps what it prints on stderr.
func testTool(vars ...string) (*tool, *strings.Builder) {
	var errs strings.Builder
	return newTool(streams{err: &errs, out: io.Discard}, environment{vars: vars}, nil), &errs
}

func TestReport(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancelCause(t.Context())
	leave(quietError{exitHangup})
	for _, c := range []struct {
		ctx  context.Context
		err  error
		code int
		text string
	}{
		{t.Context(), quietError{7}, 7, ""},
		{t.Context(), &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, 0, ""},
		{gone, context.Canceled, exitHangup, ""},
		{t.Context(), errors.New("a\x1b[2J\nb"), 1, `torchx: error: a\x1b[2J\nb` + "\n"},
		{t.Context(), usagef("list", "no."), 2, "torchx: error: list: no (see torchx list --help)\n"},
		{t.Context(), errInterrupted, 130, "torchx: interrupted\n"},
	} {
		tool, errs := testTool()
		if got := tool.report(c.ctx, c.err); got != c.code || errs.String() != c.text {
			t.Errorf("%v: got %d and %q, want %d and %q", c.err, got, errs.String(), c.code, c.text)
		}
	}
}

func TestCrashIsOneLine(t *testing.T) {
	t.Parallel()
	tool, errs := testTool()
	if code := tool.crash("index\nout of range"); code != exitError || strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("code %d, %q", code, errs.String())
	}
	tool, errs = testTool("TORCHX_DEBUG=1")
	if tool.crash("x"); !strings.Contains(errs.String(), "goroutine ") {
		t.Errorf("no trace: %q", errs.String())
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	tool, errs := testTool("LOGLEVEL=ERROR")
	must(t, tool.setLevel("", false))
	tool.say("said")
	tool.warn("warned")
	tool.sayError("failed")
	if errs.String() != "torchx: error: failed\n" {
		t.Errorf("got %q", errs.String())
	}
	must(t, tool.setLevel("debug", true))
	errs.Reset()
	tool.warn("warned")
	if errs.String() != "torchx: warning: warned\n" {
		t.Errorf("got %q", errs.String())
	}
}

func TestIndented(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w := &indented{w: &b, title: "title\n"}
	w.end()
	for _, s := range []string{"", "a\nb", "c\n", "d"} {
		_, err := io.WriteString(w, s)
		must(t, err)
	}
	w.end()
	if b.String() != "title\n  a\n  bc\n  d\n" {
		t.Errorf("got %q", b.String())
	}
}
