package observe

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/runtime/spec"
)

// TestEndByEvents: the events of deleted objects tell how an app ended.
func TestEndByEvents(t *testing.T) {
	t.Parallel()
	app := func(roles, replicas, required int) *spec.App {
		a := &spec.App{}
		for range roles {
			r := spec.NewRole("r", "i")
			if r.NumReplicas = replicas; required < replicas {
				r.MinReplicas = &required
			}
			a.Roles = append(a.Roles, r)
		}
		return a
	}
	type event struct{ kind, name, reason string }
	one, two, elastic, mixed := app(1, 1, 1), app(2, 1, 1), app(1, 3, 2), app(1, 3, 2)
	mixed.Roles = append(mixed.Roles, one.Roles...)
	for _, c := range []struct {
		events []event // oldest first
		app    *spec.App
		want   spec.State
		reason string
	}{
		{nil, one, spec.Unknown, ""},
		{[]event{{"Job", "a-r", "SuccessfulCreate"}, {"Job", "a-r", "Completed"}}, one, spec.Succeeded, ""},
		{[]event{{"Job", "a-r", "Completed"}}, two, spec.Unknown, ""},
		{[]event{{"Job", "a-r", "Completed"}}, &spec.App{}, spec.Unknown, ""},
		{[]event{{"Job", "a-r", "Completed"}, {"Job", "a-s", "BackoffLimitExceeded"}}, two, spec.Failed, "BackoffLimitExceeded"},
		{[]event{{"Job", "b-r", "Completed"}}, one, spec.Unknown, ""},
		{[]event{{"Job", "a-r-0", "BackoffLimitExceeded"}, {"JobSet", "a", "AllJobsCompleted"}}, two, spec.Succeeded, "AllJobsCompleted"},
		{[]event{{"JobSet", "a", "FailedJobs"}}, one, spec.Failed, "FailedJobs"},
		{[]event{{"JobSet", "a", "Restarting"}, {"Job", "a-r-0", "Completed"}}, one, spec.Unknown, ""},
		{[]event{{"Job", "a-r-0", "DeadlineExceeded"}, {"JobSet", "a", "FailJobSetFailurePolicyAction"}}, one, spec.Failed, "DeadlineExceeded"},
		{[]event{{"Job", "a-r", "FailedIndexes"}}, one, spec.Failed, "FailedIndexes"},
		{[]event{{"Job", "a-r", "FailedIndexes"}}, elastic, spec.Succeeded, ""},
		{[]event{{"Job", "a-r", "FailedIndexes"}, {"Job", "a-s", "Completed"}}, mixed, spec.Unknown, ""},
		{[]event{{"Job", "a-r", "MaxFailedIndexesExceeded"}}, elastic, spec.Failed, "MaxFailedIndexesExceeded"},
		{[]event{{"Job", "a-r-0", "FailedIndexes"}, {"JobSet", "a", "FailedJobs"}}, elastic, spec.Succeeded, ""},
		{[]event{{"JobSet", "a", "FailedJobs"}}, elastic, spec.Unknown, ""},
		{[]event{{"Job", "a-r-0", "BackoffLimitExceeded"}, {"Job", "a-r-0", "FailedIndexes"}, {"JobSet", "a", "FailedJobs"}}, elastic, spec.Succeeded, ""},
	} {
		var events []corev1.Event
		for i, e := range c.events {
			events = append(events, corev1.Event{
				InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: e.kind, Name: e.name}, Reason: e.reason,
				LastTimestamp: metav1.NewTime(time.Unix(int64(1000+i), 0)),
			})
		}
		if got := EndByEvents(events, "a", c.app, true); got.State != c.want || got.Reason != c.reason {
			t.Errorf("%v: got %s by %q, want %s by %q", c.events, got.State, got.Reason, c.want, c.reason)
		}
	}
	if got := EndByEvents([]corev1.Event{{InvolvedObject: corev1.ObjectReference{APIVersion: "batch/v1", Kind: "Job", Name: "a-r"}, Reason: "FailedIndexes"}}, "a", elastic, false); got.State != spec.Unknown {
		t.Errorf("without failFast: got %s, want UNKNOWN", got.State)
	}
}
