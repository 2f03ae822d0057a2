package observe

import (
	"cmp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// phase is the state of an app by its controller.
type phase int

const (
	waiting phase = iota // for room, for a queue, or to be started again
	active               // it has what it needs to run
	ending               // its pods are being stopped, finally or for a restart
	succeeded
	failed
	aborted
)

func (p phase) ended() bool { return p >= succeeded }

func (p phase) state() spec.State {
	return [...]spec.State{spec.Pending, spec.Running, spec.Running, spec.Succeeded, spec.Failed, spec.Cancelled}[p]
}

// workload is what a controller says of an app, in the same terms for every form.
type workload struct {
	name    string // of the main object
	roles   []role
	units   map[string]*unit                    // by the name that pods have of it
	locate  func(pod *corev1.Pod) (string, int) // name of the unit and index in it, -1 if it has none
	attempt func(u *unit, pod *corev1.Pod) int  // from 0
	lifecycle
	lifetime
}

// lifecycle is how far a controller is with an app.
type lifecycle struct {
	phase     phase
	suspended bool // it waits until a client resumes it, or was stopped by that
	idle      bool // none of its pods runs, as far as the controller knows
	restarts  int  // of the whole app
	// maxRestarts bounds restarts; 0: not known.
	maxRestarts int
	retries     bool   // a failure now starts the whole app again
	reason      string // the controller's message on a failure
	failing     string // the controller's message on a failure whose pods are still being stopped
	// incomplete describes a missing part of the app, "" if there is none.
	incomplete string
}

// lifetime is what the metadata of the main objects says of an app.
type lifetime struct {
	queue     string // Kueue's, "" if none
	cancelled bool   // by the annotation
	deleting  bool   // its deletion was requested
	created   *time.Time
	cancelAt  *time.Time
	endedAt   *time.Time
}

// role is one role of the app.
type role struct {
	name     string
	count    int
	required int // replicas that must succeed
}

// unit is one pod template of a controller.
type unit struct {
	role    int
	base    int // replica of its first pod
	count   int
	retries int // how often the controller starts each of its pods again
	// outcome is what the controller has counted of a pod that may be gone; Unknown if nothing.
	outcome func(index int) spec.State
	pod     *corev1.PodSpec
	failing bool // its pods are being stopped and not replaced
}

// unitOf returns a pod's unit and its index there, nil if it has none.
func (v *workload) unitOf(pod *corev1.Pod) (*unit, int) {
	name, index := v.locate(pod)
	u := v.units[name]
	if u == nil || index >= u.count || index < 0 && u.count > 1 {
		return nil, 0
	}
	return u, max(index, 0)
}

func (s *Observation) workload() *workload {
	switch {
	case s.Volcano != nil:
		return s.volcano()
	case s.JobSet != nil:
		return s.jobSet()
	default:
		return s.jobs()
	}
}

// roleSet collects the roles of an app from its pod templates.
type roleSet struct {
	app    *spec.App
	roles  []role
	byName map[string]int
	units  map[string]*unit
}

func (s *Observation) newRoleSet() *roleSet {
	h := &roleSet{app: s.App, byName: map[string]int{}, units: map[string]*unit{}}
	if s.App == nil {
		return h
	}
	for i := range s.App.Roles {
		h.byName[label.Value(s.App.Roles[i].Name)] = i
		h.roles = append(h.roles, role{name: s.App.Roles[i].Name})
	}
	return h
}

// add adds a template of count pods, of which required must succeed; name is what pods
// call it. A template without torchx's labels is a role of its own.
func (h *roleSet) add(name string, t *corev1.PodTemplateSpec, count, required int) *unit {
	text := cmp.Or(t.Labels[label.Role], name)
	index, ok := h.byName[text]
	if n, err := strconv.Atoi(t.Labels[label.RoleIndex]); h.app != nil && err == nil && n >= 0 && n < len(h.app.Roles) {
		index, ok = n, true
	}
	if !ok {
		index = len(h.roles)
		h.byName[text] = index
		h.roles = append(h.roles, role{name: text})
	}
	count = min(count, spec.MaxReplicas) // a foreign object may have any number
	u := &unit{role: index, base: h.roles[index].count, count: count, pod: &t.Spec}
	if n, err := strconv.Atoi(t.Labels[label.Replica]); err == nil && n >= 0 && count == 1 {
		u.base = n
	}
	h.roles[index].count += count
	h.roles[index].required += required
	h.units[name] = u
	return u
}

// finish completes the roles by the submitted app and returns them.
func (h *roleSet) finish() []role {
	for i := range h.roles {
		if h.app == nil || i >= len(h.app.Roles) {
			continue
		}
		given, r := &h.app.Roles[i], &h.roles[i]
		r.count = max(r.count, given.NumReplicas)
		r.required = min(given.NumReplicas, ptr.Deref(given.MinReplicas, given.NumReplicas))
	}
	return h.roles
}

// readMeta reads the metadata of a main object.
func (v *workload) readMeta(meta *metav1.ObjectMeta) {
	v.name = meta.Name
	v.deleting = v.deleting || meta.DeletionTimestamp != nil
	v.queue = cmp.Or(v.queue, meta.Labels[label.Kueue])
	v.created = earlier(v.created, timeOf(meta.CreationTimestamp))
	text, ok := meta.Annotations[label.Cancelled]
	v.cancelled = v.cancelled || ok
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		v.cancelAt = earlier(v.cancelAt, &t)
	}
}

// number reads a whole number that a controller wrote, -1 if there is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// timeOf converts a time of the API; nil for none and for the epoch, which the kubelet
// writes for containers that did not start.
func timeOf(t metav1.Time) *time.Time {
	if t.IsZero() || t.Unix() <= 0 {
		return nil
	}
	u := t.UTC()
	return &u
}

func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func later(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.After(*a) {
		return b
	}
	return a
}
