package runner

import (
	"errors"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/test/membackend"
)

func TestCheckTerminal(t *testing.T) {
	t.Parallel()
	r := newMem(t)
	for replicas, want := range map[int]error{1: ErrNoTerminal, 2: ErrManyReplicas} {
		p, err := r.Plan(t.Context(), PlanRequest{Backend: membackend.Name, App: echo(replicas)})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.CheckTerminal(p); !errors.Is(err, want) {
			t.Errorf("%d replicas: %v", replicas, err)
		}
	}
	_, err := r.OpenTerminal(t.Context(), history.AppKey{Backend: membackend.Name, ID: "any"}, backend.TerminalOptions{})
	if !errors.Is(err, ErrNoTerminal) || !strings.HasSuffix(err.Error(), "not supported by backend mem") {
		t.Errorf("%v", err)
	}
}
