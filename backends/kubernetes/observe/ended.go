package observe

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// Reasons of the events by which the controllers of Jobs and JobSets say how one ended
// (kubernetes, pkg/controller/job; jobset, pkg/constants).
var (
	completedReasons = []string{"Completed", "AllJobsCompleted"}
	failedReasons    = []string{
		"BackoffLimitExceeded", "DeadlineExceeded", "FailedIndexes", "MaxFailedIndexesExceeded", "PodFailurePolicy",
		"FailedJobs", "ReachedMaxRestarts", "FailJobSetFailurePolicyAction",
	}
)

// EndByEvents returns how an app ended, by the events of its objects: a JobSet of that name, or
// one Job per role, whose names begin with it. The state is Unknown if they do not tell.
func EndByEvents(events []corev1.Event, name string, roles int) (state spec.State, at time.Time) {
	of := map[string]spec.State{} // by name
	isSet := slices.ContainsFunc(events, func(e corev1.Event) bool { return e.InvolvedObject.Kind == "JobSet" && e.InvolvedObject.Name == name })
	for i := range events {
		e := &events[i]
		o := &e.InvolvedObject
		isJob := o.Kind == "Job" && strings.HasPrefix(o.APIVersion, "batch/") && strings.HasPrefix(o.Name, name+"-")
		if isSet && (o.Kind != "JobSet" || o.Name != name) || !isSet && !isJob {
			continue
		}
		switch {
		case slices.Contains(failedReasons, e.Reason):
			of[o.Name] = spec.Failed
		case slices.Contains(completedReasons, e.Reason):
			of[o.Name] = spec.Succeeded
		default:
			continue
		}
		if EventTime(e).After(at) {
			at = EventTime(e).UTC()
		}
	}
	want := roles // one Job each, or more
	if isSet {
		want = 1
	}
	state = spec.Unknown
	for _, ended := range of {
		if ended == spec.Failed {
			return spec.Failed, at
		}
	}
	if want > 0 && len(of) >= want {
		state = spec.Succeeded
	}
	return state, at
}
