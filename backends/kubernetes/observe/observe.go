// Package observe tells how an app on a cluster stands from what the cluster's API
// returned: the object that runs the app, its pods, and what explains why they
// wait. It asks nobody and has no clock, so recorded answers test it.
package observe

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// Seen is what was seen of one app. One of Volcano, JobSet and Jobs is set: the
// form that runs it.
type Seen struct {
	App *spec.App `json:"app,omitempty"` // as it was submitted; nil where nobody knows

	Volcano *kube.VolcanoJob `json:"volcano,omitempty"`
	JobSet  *kube.JobSet     `json:"jobset,omitempty"`
	Jobs    []batchv1.Job    `json:"jobs,omitempty"`

	// Pods are those of the app, of all attempts that the cluster still has.
	Pods []corev1.Pod `json:"pods,omitempty"`
	// Gone are pods as they were last seen that were deleted since; a watch knows them.
	Gone []corev1.Pod `json:"gone,omitempty"`

	// What explains why an app waits; each may be missing.
	PodGroups []kube.PodGroup `json:"podGroups,omitempty"`
	Events    []corev1.Event  `json:"events,omitempty"` // warnings of the namespace
	Nodes     []corev1.Node   `json:"nodes,omitempty"`
}

// Status is how the app stands. Its handle is the caller's.
func (s *Seen) Status() *spec.Status {
	v := s.verdict()
	b := &board{seen: s, verdict: v}
	b.place()
	return b.status()
}

// State is how the app stands as far as the object that runs it tells alone: for
// lists, which must not ask for every app's pods. A result may differ from that
// of Status, which follows the pods.
func (s *Seen) State() spec.State {
	v := s.verdict()
	if v.phase.ended() || v.cancelled && v.suspended {
		return s.Status().State
	}
	if v.suspended {
		return spec.Pending
	}
	return v.phase.state()
}

// Unclear tells whether more than pods is needed to say why the app waits: the
// events, and the nodes and the pod group where no pods were made yet.
func (s *Seen) Unclear() bool {
	v := s.verdict()
	if v.phase.ended() || v.suspended {
		return false
	}
	b := &board{seen: s, verdict: v}
	b.place()
	return b.unclear()
}

// WaitsForRoom tells whether Volcano keeps the whole app waiting until all of it
// fits: then its pod group and the nodes say more.
func (s *Seen) WaitsForRoom() bool {
	if s.Volcano == nil || !s.Unclear() {
		return false
	}
	for i := range s.Pods {
		if podWaits(&s.Pods[i], nil) != gangWaits {
			return false
		}
	}
	return true
}

// Locator returns what tells which replica a pod is of, and which attempt. Pods
// that are none of the app's replicas are not ok.
func (s *Seen) Locator() func(pod *corev1.Pod) (r spec.Replica, attempt int, ok bool) {
	v := s.verdict()
	return func(pod *corev1.Pod) (spec.Replica, int, bool) {
		u, index := v.unitOf(pod)
		if u == nil {
			return spec.Replica{}, 0, false
		}
		return spec.Replica{Role: v.roles[u.role].name, ID: u.base + index}, v.attempt(u, pod), true
	}
}

// phase is how the controller of an app says that it stands.
type phase int

const (
	waiting phase = iota // for room, for a queue, to be started again
	active               // it has what it needs to run
	ending               // its pods are being stopped, here or for a restart
	succeeded
	failed
	aborted
)

func (p phase) ended() bool { return p >= succeeded }

func (p phase) state() spec.State {
	switch p {
	case waiting:
		return spec.Pending
	case succeeded:
		return spec.Succeeded
	case failed:
		return spec.Failed
	case aborted:
		return spec.Cancelled
	default:
		return spec.Running
	}
}

// verdict is what a controller says of an app, in the same words for every form.
type verdict struct {
	name      string // of the main object
	roles     []role
	units     map[string]*unit                    // by the name that pods have of it
	place     func(pod *corev1.Pod) (string, int) // name of the unit and index in it, -1 if it has none
	attempt   func(u *unit, pod *corev1.Pod) int  // from 0
	phase     phase
	suspended bool   // it waits until somebody lets it run, or was stopped so
	queue     string // Kueue's, "" if none
	cancelled bool   // by the annotation
	quiet     bool   // nothing of it runs, as far as the controller knows
	reason    string // the controller's own words on a failure
	failing   string // … on one of which the pods are being stopped
	// incomplete says that something of the app is not there, "" if all is.
	incomplete string
	restarts   int  // of the whole app
	retries    bool // a failure now starts the whole app again
	deleting   bool // somebody deletes it
	created    *time.Time
	cancelAt   *time.Time
	endedAt    *time.Time
}

// role is one role of the app.
type role struct {
	name     string
	count    int
	required int // replicas that must succeed
}

// unit is one template of pods of a controller.
type unit struct {
	role  int
	base  int // replica of its first pod
	count int
	// retries is how often the controller starts each of its pods again.
	retries int
	// outcome is what the controller has counted of a pod that may be gone; Unknown if nothing.
	outcome func(index int) spec.State
	pod     *corev1.PodSpec
	failing bool // its pods are being stopped, it gets no others
}

// unitOf finds a pod's unit and its index there; nil if it has none.
func (v *verdict) unitOf(pod *corev1.Pod) (*unit, int) {
	name, index := v.place(pod)
	u := v.units[name]
	if u == nil || index >= u.count || index < 0 && u.count > 1 {
		return nil, 0
	}
	return u, max(index, 0)
}

func (s *Seen) verdict() *verdict {
	switch {
	case s.Volcano != nil:
		return s.volcano()
	case s.JobSet != nil:
		return s.jobSet()
	default:
		return s.jobs()
	}
}
