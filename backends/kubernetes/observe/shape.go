package observe

import (
	"cmp"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// shape collects the roles of an app from the templates of its controller.
type shape struct {
	app    *spec.App
	roles  []role
	byName map[string]int
	units  map[string]*unit
}

func (s *Seen) newShape() *shape {
	h := &shape{app: s.App, byName: map[string]int{}, units: map[string]*unit{}}
	if s.App == nil {
		return h
	}
	for i := range s.App.Roles {
		h.byName[label.Value(s.App.Roles[i].Name)] = i
		h.roles = append(h.roles, role{name: s.App.Roles[i].Name})
	}
	return h
}

// add notes a template for count pods that pods call name; required of them must
// succeed. Templates that are not torchx's are a role each.
func (h *shape) add(name string, t *corev1.PodTemplateSpec, count, required int) *unit {
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
	u := &unit{role: index, base: h.roles[index].count, count: count, pod: &t.Spec}
	if n, err := strconv.Atoi(t.Labels[label.Replica]); err == nil && n >= 0 && count == 1 {
		u.base = n
	}
	h.roles[index].count += count
	h.roles[index].required += required
	h.units[name] = u
	return u
}

// done completes the roles by what was submitted.
func (h *shape) done() []role {
	for i := range h.roles {
		if h.app == nil || i >= len(h.app.Roles) {
			continue
		}
		given, r := &h.app.Roles[i], &h.roles[i]
		r.count = max(r.count, given.NumReplicas)
		r.required = given.NumReplicas
		if given.MinReplicas != nil && *given.MinReplicas < given.NumReplicas {
			r.required = *given.MinReplicas
		}
	}
	return h.roles
}

// about fills in what all main objects say alike.
func (v *verdict) about(meta *metav1.ObjectMeta) {
	v.name = meta.Name
	v.deleting = v.deleting || meta.DeletionTimestamp != nil
	v.queue = cmp.Or(v.queue, meta.Labels[label.Kueue])
	v.created = earlier(v.created, moment(meta.CreationTimestamp))
	text, ok := meta.Annotations[label.Cancelled]
	v.cancelled = v.cancelled || ok
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		v.cancelAt = earlier(v.cancelAt, &t)
	}
}

// number reads a whole number that a controller wrote; -1 if there is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// moment is a time of the API; nil for none and for the epoch, which the kubelet
// writes for containers that did not start.
func moment(t metav1.Time) *time.Time {
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
