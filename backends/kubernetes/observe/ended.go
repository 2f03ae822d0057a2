package observe

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// Reasons of the events by which the controllers of Jobs and JobSets say how one ended
// (kubernetes, pkg/controller/job; jobset, pkg/constants).
var (
	completedReasons = []string{"Completed", "AllJobsCompleted"}
	failedReasons    = []string{
		"BackoffLimitExceeded", batchv1.JobReasonDeadlineExceeded, failedIndexes, "MaxFailedIndexesExceeded", "PodFailurePolicy",
		failedJobs, "ReachedMaxRestarts", "FailJobSetFailurePolicyAction",
	}
)

const (
	failedIndexes = "FailedIndexes" // some indexes, but not more than may fail
	failedJobs    = "FailedJobs"    // of a JobSet that does not restart
)

// End is how an app ended by its events.
type End struct {
	State spec.State // Unknown if they do not tell
	At    time.Time
	// Reason is that of the event of a failure, such as DeadlineExceeded, and Msg its message.
	Reason, Msg string
}

// EndByEvents returns how an app ended, by the events of its objects: a JobSet of that name, or
// one Job per role, whose names begin with it. Of an app that may lose replicas, failFast
// determines whether it lost too many.
func EndByEvents(events []corev1.Event, name string, app *spec.App, failFast bool) End {
	set, jobs := ends(events, name)
	elastic := newElastic(app, failFast)
	all := verdict(jobs, len(app.Roles), elastic)
	switch {
	case set == nil:
		return all
	case set.State != spec.Failed:
		return *set
	case set.Reason == failedJobs && elastic.any:
		return all
	case all.Reason == batchv1.JobReasonDeadlineExceeded:
		set.Reason, set.Msg = all.Reason, all.Msg
	}
	return *set
}

// JobEnds returns how the Jobs of an app ended by their events, by name.
func JobEnds(events []corev1.Event, name string) map[string]End {
	_, jobs := ends(events, name)
	return jobs
}

// ends returns the last known ends of the app's JobSet, nil if it has none, and of its Jobs, by
// name.
func ends(events []corev1.Event, name string) (set *End, jobs map[string]End) {
	jobs = map[string]End{}
	for i := range events {
		e := &events[i]
		o := &e.InvolvedObject
		isSet := o.Kind == "JobSet" && o.Name == name
		if isSet && set == nil {
			set = &End{State: spec.Unknown}
		}
		end := End{State: spec.Unknown, At: EventTime(e).UTC(), Reason: e.Reason, Msg: EventText(e)}
		switch {
		case slices.Contains(failedReasons, e.Reason):
			end.State = spec.Failed
		case slices.Contains(completedReasons, e.Reason):
			end.State = spec.Succeeded
		default:
			continue
		}
		isJob := o.Kind == "Job" && strings.HasPrefix(o.APIVersion, "batch/") &&
			strings.HasPrefix(o.Name, name+"-")
		switch {
		case isSet && !end.At.Before(set.At):
			*set = end
		case isJob && !end.At.Before(jobs[o.Name].At):
			jobs[o.Name] = end
		}
	}
	return set, jobs
}

// elastic says which roles of an app may lose replicas.
type elastic struct{ any, all, failFast bool }

func newElastic(app *spec.App, failFast bool) elastic {
	e := elastic{all: true, failFast: failFast}
	for i := range app.Roles {
		may := mayLose(&app.Roles[i])
		e.any, e.all = e.any || may, e.all && may
	}
	return e
}

// mayLose reports whether the app goes on without some replicas of a role.
func mayLose(r *spec.Role) bool { return r.MinReplicas != nil && *r.MinReplicas < r.NumReplicas }

// verdict returns how an app of Jobs ended, one or more for each role.
func verdict(jobs map[string]End, roles int, may elastic) End {
	all, last := End{State: spec.Succeeded}, time.Time{}
	for _, end := range jobs {
		if end.Reason == failedIndexes && may.any {
			if end.State = spec.Unknown; may.all && may.failFast {
				end.State = spec.Succeeded // failFast fails a Job that loses more than it may
			}
		}
		if end.At.After(last) {
			last = end.At
		}
		switch {
		case end.State == spec.Failed && (all.State != spec.Failed || end.At.Before(all.At)):
			all = end
		case end.State == spec.Unknown && all.State == spec.Succeeded:
			all.State = spec.Unknown
		}
	}
	if all.State == spec.Succeeded && (roles == 0 || len(jobs) < roles) {
		all.State = spec.Unknown
	}
	all.At = last
	return all
}
