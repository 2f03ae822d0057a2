package kubernetes

import (
	batchv1 "k8s.io/api/batch/v1"

	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/spec"
)

// seen is what the main object alone says of an app.
func (a *app) seen() *observe.Seen {
	return &observe.Seen{Volcano: a.volcano, JobSet: a.jobSet, Jobs: a.jobs}
}

// state is what the controllers say of an app; its pods may know better.
func (a *app) state() spec.State {
	seen := a.seen()
	if a.form == manifest.FormJob { // one of its Jobs may be missing
		seen.App = a.submitted()
	}
	return seen.State()
}

// jobState is that of one of an app's Jobs.
func jobState(j *batchv1.Job) spec.State { return (&observe.Seen{Jobs: []batchv1.Job{*j}}).State() }
