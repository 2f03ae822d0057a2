package kubernetes

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/spec"
)

// TestFindEnd: events and the last known replicas tell how an app ended that the cluster has deleted.
func TestFindEnd(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	failed := corev1.Event{
		InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Name: "a-r"}, Reason: "BackoffLimitExceeded",
		Message: "Job has reached the specified backoff limit", LastTimestamp: metav1.NewTime(at.Add(time.Minute)),
	}
	role := spec.NewRole("r", "i")
	role.NumReplicas, role.MinReplicas = 2, new(1)
	app := &spec.App{Roles: []spec.Role{role}}
	seen := func(first spec.State) *spec.Status {
		ended := spec.ReplicaStatus{Role: "r", State: first}
		if first.Terminal() {
			ended.FinishedAt = &at
		}
		return &spec.Status{State: spec.Running, SubmittedAt: &at, Roles: []spec.RoleStatus{{Role: "r", Replicas: []spec.ReplicaStatus{ended, {Role: "r", ID: 1, State: spec.Running}}}}}
	}
	broken := seen(spec.Failed)
	broken.FirstFailure = &spec.ReplicaStatus{Role: "r", State: spec.Failed, ExitCode: new(3)}
	const unknown = "the cluster no longer has the app, which was RUNNING when last seen: its result is not known"
	for _, c := range []struct {
		events   []corev1.Event
		last     *spec.Status
		want     spec.State
		msg      string
		code     int // 0 also if it is not known
		finished time.Time
		replica  spec.State // the second
	}{
		{nil, seen(spec.Running), spec.Unknown, unknown, 0, time.Time{}, spec.Unknown},
		{nil, seen(spec.Succeeded), spec.Succeeded, "", 0, at, spec.Unknown},
		{[]corev1.Event{failed}, seen(spec.Running), spec.Failed, failed.Message + "; its pods are deleted, so the exit code is unknown", 1, at.Add(time.Minute), spec.Unknown},
		{[]corev1.Event{failed}, broken, spec.Failed, "replica r/0 failed first with exit code 3", 3, at.Add(time.Minute), spec.Unknown},
	} {
		s := &site{T: t, namespace: "default"}
		s.Backend = s.as(serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(corev1.EventList{Items: c.events})
		})))
		for range 2 { // the second time by what was recorded
			if !s.FindEnd(t.Context(), "default:a", app, c.last) {
				t.Errorf("got that it was never started, want %s", c.want)
			}
			got := c.last
			var code int
			var finished time.Time
			if got.ExitCode != nil {
				code = *got.ExitCode
			}
			if got.FinishedAt != nil {
				finished = *got.FinishedAt
			}
			if got.State != c.want || got.Msg != c.msg || code != c.code || !finished.Equal(c.finished) || got.Roles[0].Replicas[1].State != c.replica {
				t.Errorf("got %+v at %s, want %s %d: %s at %s", got, finished, c.want, c.code, c.msg, c.finished)
			}
			if got.State.Terminal() {
				break
			}
		}
	}
}
