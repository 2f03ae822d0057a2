package kubernetes

import (
	"testing"
	"time"

	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/spec"
)

// TestDeadline: an app that exceeds its time limit has failed with the exit code and the
// message that all backends have, whatever enforces the limit: of pods, or of jobs if replicas
// could be retried.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for _, gang := range manifest.Forms {
		for retries, name := range map[int]string{0: "pods", 1: "jobs"} {
			if gang == manifest.FormVolcano && retries > 0 {
				continue // it has no jobs with a deadline
			}
			t.Run(string(gang)+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t)
				app := sleepers()
				app.Roles = app.Roles[:1]
				app.Roles[0].MaxRetries = retries
				app.SetTimeout(5 * time.Second)
				p := s.planOf("late-1", app, map[string]any{"gang": string(gang), "reserved_millicpu": 1000})
				if err := s.Submit(t.Context(), p); err != nil {
					t.Fatal(err)
				}
				status, err := s.Wait(t.Context(), p.ID)
				if err != nil || status.State != spec.Failed || status.ExitCode == nil || *status.ExitCode != spec.ExitDeadline || status.Msg != "deadline of 5s exceeded" {
					t.Fatalf("got %+v, %v, want FAILED with exit code 124 and the deadline", status, err)
				}
				if status.NumRestarts != 0 {
					t.Errorf("got %d restarts, want none", status.NumRestarts)
				}
			})
		}
	}
}
