package backend

import (
	"context"
	"reflect"
	"testing"
	"time"
)

func TestRunDiagnostics(t *testing.T) {
	t.Parallel()
	forever := make(chan struct{})
	t.Cleanup(func() { close(forever) })
	hang := func(context.Context) Check { <-forever; return Check{} }
	begun := time.Now()
	got := RunDiagnostics(t.Context(), 50*time.Millisecond, []Diagnostic{
		{Name: "a", Run: func(context.Context) Check { return PassedCheck("a", "%d", 1) }},
		{Name: "hangs", Run: hang},
		{Name: "hangs too", Run: hang, Minor: true},
		{Name: "heeds", Run: func(ctx context.Context) Check { <-ctx.Done(); return WarningCheck("heeds", "wait", "late") }},
		{Name: "z", Run: func(context.Context) Check { return FailedCheck("z", "do", "it") }},
	})
	const fix = "find out what hangs: a network file system, a driver or a server"
	want := []Check{
		{Name: "a", Level: LevelOK, Text: "1"},
		{Name: "hangs", Level: LevelFailure, Text: "no answer within 50ms", Fix: fix},
		{Name: "hangs too", Level: LevelWarning, Text: "no answer within 50ms", Fix: fix},
		{Name: "heeds", Level: LevelWarning, Text: "late", Fix: "wait"},
		{Name: "z", Level: LevelFailure, Text: "it", Fix: "do"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("got answers after %v, want at most 10 s", took)
	}
	if got := RunDiagnostics(t.Context(), time.Second, nil); len(got) != 0 {
		t.Errorf("no diagnostics: got %+v, want none", got)
	}
}
