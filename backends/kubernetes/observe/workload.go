package observe

import (
	"cmp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// phase is an app's state as its controller reports it.
type phase int

const (
	waiting phase = iota // for resources, in a queue, or for a restart
	active               // it has the resources to run
	ending               // its pods are being stopped, finally or for a restart
	succeeded
	failed
	aborted
)

func (p phase) ended() bool { return p >= succeeded }

func (p phase) state() spec.State {
	return [...]spec.State{spec.Pending, spec.Running, spec.Running, spec.Succeeded, spec.Failed, spec.Cancelled}[p]
}

// workload is an app as its controller reports it, in the same terms for every form.
type workload struct {
	name    string // of the main object
	roles   []role
	units   map[string]*unit                    // by the name that pods refer to
	locate  func(pod *corev1.Pod) (string, int) // name of the unit and index in it, -1 if the pod has none
	attempt func(u *unit, pod *corev1.Pod) int  // from 0
	lifecycle
	lifetime
}

// lifecycle is the progress of an app by its controller.
type lifecycle struct {
	phase     phase
	suspended bool // until a client resumes it, or stopped by a cancellation
	idle      bool // the controller counts no running pods
	restarts  int  // of the whole app
	// maxRestarts bounds restarts; 0 if unknown.
	maxRestarts int
	retries     bool   // a failure now restarts the whole app
	reason      string // the controller's message on a failure
	failing     string // the same, while pods are still being stopped
	evictions   int    // by Kueue: the app was suspended, and starts again when it is admitted
	// jobDeadline is the time limit of jobs that the controller enforces by deleting their
	// pods; 0 if there is none. overran means that one exceeded it.
	jobDeadline time.Duration
	overran     bool
	// incomplete describes a missing part of the app, "" if there is none.
	incomplete string
}

// lifetime holds the metadata of an app's main objects.
type lifetime struct {
	queue        string // of Kueue, "" if none
	cancelled    bool   // by the annotation
	cancelReason string // of the cancellation, "" if not known
	cancelFailed bool   // it was canceled because it could not start
	deleting     bool   // its deletion was requested
	created      *time.Time
	cancelAt     *time.Time
	endedAt      *time.Time
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
	base    int // replica number of its first pod
	count   int
	retries int // restarts of each pod by the controller
	// outcome returns the state of a pod by the controller's counts, also after the pod is
	// deleted; Unknown if they do not determine it.
	outcome     func(index int) spec.State
	pod         *corev1.PodSpec
	failing     bool // its pods are being stopped and not replaced
	limited     bool // not all of its pods run at the same time
	disruptions disruptions
}

// disruptions says what follows a disruption from outside, such as an eviction, of a pod.
type disruptions struct {
	free        bool // the pod, or all pods, restart without counting as a failure
	alone       bool // only the pod
	onlyDeleted bool // a pod that is not deleted counts as a failure
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

func (s *Observation) workload() (v *workload) {
	switch {
	case s.Volcano != nil:
		v = s.volcano()
	case s.JobSet != nil:
		v = s.jobSet()
	default:
		v = s.jobs()
	}
	v.evictions = s.evictions()
	v.restarts += v.evictions
	return v
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
		h.byName[kube.LabelValue(s.App.Roles[i].Name)] = i
		h.roles = append(h.roles, role{name: s.App.Roles[i].Name})
	}
	return h
}

// add adds a template for count pods; required of them must succeed. name is the name that
// pods refer to. A template without torchx's labels becomes a separate role.
func (h *roleSet) add(name string, t *corev1.PodTemplateSpec, count, required int) *unit {
	text := cmp.Or(t.Labels[kube.LabelRole], name)
	index, ok := h.byName[text]
	if n, err := strconv.Atoi(t.Labels[kube.LabelRoleIndex]); h.app != nil && err == nil && n >= 0 &&
		n < len(h.app.Roles) {
		index, ok = n, true
	}
	if !ok {
		index = len(h.roles)
		h.byName[text] = index
		h.roles = append(h.roles, role{name: text})
	}
	count = min(count, spec.MaxReplicas) // objects of other clients may have any number
	u := &unit{role: index, base: h.roles[index].count, count: count, pod: &t.Spec}
	if n, err := strconv.Atoi(t.Labels[kube.LabelReplica]); err == nil && n >= 0 && count == 1 {
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
	v.queue = cmp.Or(v.queue, meta.Labels[kube.LabelKueue])
	v.created = outcome.Earlier(v.created, timeOf(meta.CreationTimestamp))
	text, ok := meta.Annotations[kube.AnnotationCancelled]
	v.cancelled = v.cancelled || ok
	v.cancelReason = cmp.Or(v.cancelReason, meta.Annotations[kube.AnnotationCancelReason])
	v.cancelFailed = v.cancelFailed || meta.Annotations[kube.AnnotationCancelFailed] != ""
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		v.cancelAt = outcome.Earlier(v.cancelAt, &t)
	}
}

// number parses a non-negative number of a controller, -1 if it is not one.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// timeOf converts a time of the API. It returns nil for the zero time and for the epoch,
// which the kubelet writes for containers that did not start.
func timeOf(t metav1.Time) *time.Time {
	if t.IsZero() || t.Unix() <= 0 {
		return nil
	}
	u := t.UTC()
	return &u
}
