// Package observe derives the status of an app from responses of the cluster's API: the
// objects that run the app (read into a workload), its pods (read into replicas with
// attempts), and the events, nodes and pod groups that explain why pods wait. It sends no
// requests and has no clock, so it can be tested with recorded responses.
package observe

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// Observation holds the objects of one app that the API returned. One of Volcano, JobSet and
// Jobs is set, by the app's form.
type Observation struct {
	App *spec.App `json:"app,omitempty"` // as submitted; nil if unknown

	Volcano *kube.VolcanoJob `json:"volcano,omitempty"`
	JobSet  *kube.JobSet     `json:"jobset,omitempty"`
	Jobs    []batchv1.Job    `json:"jobs,omitempty"`

	// Pods are the app's pods, of all attempts that the cluster still has.
	Pods []corev1.Pod `json:"pods,omitempty"`
	// Gone are pods that a watch saw deleted, in their last known state.
	Gone []corev1.Pod `json:"gone,omitempty"`

	// Expired holds how the Jobs ended that ttl_seconds has deleted before others of the app, by
	// role, see MissingRoles.
	Expired map[int]End `json:"expired,omitempty"`

	// PodsHidden means that the user may not list pods: the main objects alone show the state.
	PodsHidden bool `json:"podsHidden,omitempty"`

	// NamespaceRemoved is since when the app's namespace is being removed, nil if it is not.
	NamespaceRemoved *time.Time `json:"namespaceRemoved,omitempty"`

	// Workloads are what Kueue admits for the main objects; none if the user may not read them.
	Workloads []kube.Workload `json:"workloads,omitempty"`

	// The following explain why an app waits; each may be missing.
	PodGroups []kube.PodGroup `json:"podGroups,omitempty"`
	Events    []corev1.Event  `json:"events,omitempty"` // warnings of the namespace
	Nodes     []corev1.Node   `json:"nodes,omitempty"`
}

// Status returns the app's status without its handle.
func (s *Observation) Status() *spec.Status { return s.assess().status() }

// State returns the app's state from its main objects alone, for lists, which must not read
// the pods of every app. It may differ from Status, which follows the pods.
func (s *Observation) State() spec.State {
	v := s.workload()
	if v.phase.ended() || v.cancelled && v.suspended {
		return s.Status().State
	}
	if v.suspended {
		return spec.Pending
	}
	return v.phase.state()
}

// LostPods reports whether the app has failed, and pods of it were deleted.
func (s *Observation) LostPods() bool {
	if v := s.workload(); v.phase != failed || v.cancelled {
		return false
	}
	isDeleted := func(p corev1.Pod) bool { return p.DeletionTimestamp != nil }
	return len(s.Gone) > 0 || len(s.Pods) == 0 || slices.ContainsFunc(s.Pods, isDeleted)
}

// Unclear reports whether events could explain why the app waits better than its pods do.
func (s *Observation) Unclear() bool {
	v := s.workload()
	if v.phase.ended() || v.suspended {
		return false
	}
	return s.assess().needsEvents()
}

// startTime is how long a node may take to start a pod before its image may be the reason.
const startTime = 3 * time.Second

// Starts reports whether a node has been starting a pod for a while without a known reason.
func (s *Observation) Starts() bool {
	return slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool {
		return p.Status.Phase == corev1.PodPending && p.Status.StartTime != nil &&
			time.Since(p.Status.StartTime.Time) > startTime && podWaitReason(&p, s.Events) == ""
	})
}

// WaitsForResources reports whether Volcano holds the whole app back until all of it fits.
// Its pod group and the nodes then explain more.
func (s *Observation) WaitsForResources() bool {
	return s.Volcano != nil && s.Unclear() &&
		!slices.ContainsFunc(s.Pods, func(p corev1.Pod) bool { return podWaitReason(&p, nil) != gangTooLarge })
}

// Locator returns a function that finds the replica and the attempt of a pod; ok is false
// for pods of other apps.
func (s *Observation) Locator() func(pod *corev1.Pod) (r spec.Replica, attempt int, ok bool) {
	v := s.workload()
	numbered := s.evictedAttempts(v)
	return func(pod *corev1.Pod) (spec.Replica, int, bool) {
		u, index := v.unitOf(pod)
		if u == nil {
			return spec.Replica{}, 0, false
		}
		attempt, ok := numbered[pod.UID]
		if !ok {
			attempt = v.attempt(u, pod)
		}
		return spec.Replica{Role: v.roles[u.role].name, ID: u.base + index}, attempt, true
	}
}
