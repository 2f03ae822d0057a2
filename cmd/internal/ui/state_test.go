package ui

import (
	"testing"

	"torchx/runtime/spec"
)

// TestStateText: a table shows what an app that has not started waits for, in one word.
func TestStateText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		state     spec.State
		msg, want string
	}{
		{spec.Pending, spec.QueuedMark + "waits for a GPU", "PENDING queued"},
		{spec.Pending, "waits for a node", "PENDING"},
		{spec.Pending, "waits for local://torchx/a to succeed", "PENDING waiting"},
		{spec.Submitted, spec.PreparingMark + "pull alpine:3.20", "SUBMITTED pull"},
		{spec.Submitted, "rerun of a", "SUBMITTED"},
		{spec.Running, "", "RUNNING"},
	} {
		if got := StateText(c.state, c.msg); got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.state, c.msg, got, c.want)
		}
	}
}
