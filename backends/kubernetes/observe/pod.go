package observe

import (
	"fmt"
	"iter"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"torchx/runtime/outcome"
	"torchx/runtime/spec"
)

// codeUnknown is the exit code of a program that failed in an unknown way.
const codeUnknown = 1

// Reasons of terminated containers: the kubelet's (StartError and Unknown) and
// the runtime's.
const (
	reasonStartError  = "StartError"
	reasonCannotRun   = "ContainerCannotRun"
	reasonOOM         = "OOMKilled"
	reasonUnknownExit = "ContainerStatusUnknown"
)

// podStatus returns the status of a replica from its pod alone.
func podStatus(pod *corev1.Pod) spec.ReplicaStatus {
	s := spec.ReplicaStatus{State: podState(pod.Status.Phase), Hostname: hostname(pod), Pod: pod.Name, Node: pod.Spec.NodeName}
	c := decisiveContainer(pod)
	if c != nil {
		s.StartedAt = started(c)
	}
	if !s.State.Terminal() {
		return s
	}
	s.FinishedAt = finished(pod)
	if c != nil && c.State.Terminated != nil {
		setEnd(&s, pod, c)
	}
	if note := disruption(pod); note != "" {
		s.Msg = note
	}
	if overran(pod) {
		s.ExitCode, s.Signal = new(spec.ExitDeadline), ""
	}
	if s.State == spec.Failed && s.ExitCode == nil && s.Msg == "" {
		s.Msg = firstText(pod.Status.Message, pod.Status.Reason)
	}
	return s
}

// podState returns the state of a pod's phase, as TorchX does.
func podState(p corev1.PodPhase) spec.State {
	switch p {
	case corev1.PodPending:
		return spec.Pending
	case corev1.PodRunning:
		return spec.Running
	case corev1.PodSucceeded:
		return spec.Succeeded
	case corev1.PodFailed:
		return spec.Failed
	}
	return spec.Unknown
}

// dashes replaces what an address has and a name in DNS has not.
var dashes = strings.NewReplacer(".", "-", ":", "-")

// hostname returns the pod's name in DNS, as in TorchX.
func hostname(pod *corev1.Pod) string {
	if pod.Status.PodIP == "" {
		return ""
	}
	return dashes.Replace(pod.Status.PodIP) + "." + pod.Namespace + ".pod.cluster.local"
}

// decisiveContainer returns the container that decides the pod's result: the first one, which
// runs the role, or if it did not fail but the pod did, the container that failed first.
func decisiveContainer(pod *corev1.Pod) *corev1.ContainerStatus {
	var first, bad *corev1.ContainerStatus
	for c := range containers(pod) {
		if first == nil && len(pod.Spec.Containers) > 0 && c.Name == pod.Spec.Containers[0].Name {
			first = c
		}
		if t := c.State.Terminated; t != nil && t.ExitCode != 0 &&
			(bad == nil || t.FinishedAt.Before(&bad.State.Terminated.FinishedAt)) {
			bad = c
		}
	}
	good := first == nil || first.State.Terminated == nil || first.State.Terminated.ExitCode == 0
	if pod.Status.Phase == corev1.PodFailed && good && bad != nil {
		return bad
	}
	return first
}

// containers yields the statuses of a pod's containers, init containers first.
func containers(pod *corev1.Pod) iter.Seq[*corev1.ContainerStatus] {
	return func(yield func(*corev1.ContainerStatus) bool) {
		for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

func started(c *corev1.ContainerStatus) *time.Time {
	switch {
	case c.State.Terminated != nil:
		return timeOf(c.State.Terminated.StartedAt)
	case c.State.Running != nil:
		return timeOf(c.State.Running.StartedAt)
	case c.LastTerminationState.Terminated != nil: // it waits for its restart
		return timeOf(c.LastTerminationState.Terminated.StartedAt)
	}
	return nil
}

// finished returns when the last container ended, else when the pod's conditions last changed.
func finished(pod *corev1.Pod) (at *time.Time) {
	for c := range containers(pod) {
		if t := c.State.Terminated; t != nil {
			at = outcome.Later(at, timeOf(t.FinishedAt))
		}
	}
	if at != nil {
		return at
	}
	for i := range pod.Status.Conditions {
		at = outcome.Later(at, timeOf(pod.Status.Conditions[i].LastTransitionTime))
	}
	return at
}

// setEnd sets the result of a terminated container.
func setEnd(s *spec.ReplicaStatus, pod *corev1.Pod, c *corev1.ContainerStatus) {
	t := c.State.Terminated
	code := int(t.ExitCode)
	switch t.Reason {
	case reasonUnknownExit: // its exit code is made up
		s.Msg = firstText(t.Message, "its node does not report its exit code")
		return
	case reasonStartError, reasonCannotRun:
		code, s.Msg = startFailure(t.Message)
	case reasonOOM:
		s.Msg = outOfMemory(pod, c, code)
	}
	s.ExitCode = &code
	s.Signal = spec.SignalName(code)
	if s.Msg == "" && len(pod.Spec.Containers) > 0 &&
		c.Name != pod.Spec.Containers[0].Name && code != 0 {
		s.Msg = fmt.Sprintf("container %s ended with exit code %d", c.Name, code)
	}
	if t.Reason != reasonStartError && t.Reason != reasonCannotRun {
		s.StructuredErrorMsg = errorFile(t.Message)
	}
}

// startFailure returns why the runtime (runc, crun) could not start a program.
func startFailure(message string) (code int, why string) {
	_, exec, found := strings.Cut(message, `exec: "`)
	if !found {
		return spec.ExitNotStarted, firstText(message, "its container could not be started")
	}
	exec = strings.TrimSuffix(plain(exec), ": unknown")
	program, why, _ := strings.Cut(exec, `"`)
	why = strings.TrimPrefix(why, ": ")
	text := fmt.Sprintf("entry point %s: %s", program,
		strings.TrimPrefix(why, "stat "+program+": "))
	if strings.Contains(why, "not found") || strings.Contains(why, "no such file") {
		return spec.ExitNotFound, text
	}
	return spec.ExitNotExecutable, text
}

// outOfMemory returns a message. With code 0 a child was killed, and its parent succeeded.
func outOfMemory(pod *corev1.Pod, c *corev1.ContainerStatus, code int) string {
	text := "out of memory"
	if code == 0 {
		text = "one of its processes ran out of memory"
	}
	for i := range pod.Spec.Containers {
		limit, ok := pod.Spec.Containers[i].Resources.Limits[corev1.ResourceMemory]
		if ok && pod.Spec.Containers[i].Name == c.Name {
			text += " at its limit of " + Amount(corev1.ResourceMemory, limit)
		}
	}
	return text + " (" + reasonOOM + ")"
}

// disruption describes how a pod was disrupted from outside, "" if it was not.
func disruption(pod *corev1.Pod) string {
	message := plain(pod.Status.Message)
	withMessage := func(text string) string {
		if message == "" {
			return text
		}
		return text + ": " + message
	}
	switch pod.Status.Reason {
	case "Evicted":
		return withMessage("evicted by its node")
	case "NodeLost":
		return withMessage("its node is lost")
	case "Preempting", "Preempted":
		return withMessage("preempted")
	case "Terminated", "Shutdown", "NodeShutdown":
		return withMessage("its node was shut down")
	case batchv1.JobReasonDeadlineExceeded:
		return spec.DeadlineText(deadline(pod))
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Reason {
		case corev1.PodReasonPreemptionByScheduler:
			return firstText("preempted: "+c.Message, "preempted")
		case "DeletionByTaintManager":
			if unreadyNode(pod) == "" { // its node answers
				return "evicted: its node has a NoExecute taint"
			}
			return firstText("its node is lost: "+c.Message, "its node is lost")
		case "DeletionByPodGC":
			return firstText("its node is lost: "+c.Message, "its node is lost")
		case "EvictionByEvictionAPI":
			return firstText("evicted: "+c.Message, "evicted")
		case corev1.PodReasonTerminationByKubelet:
			return firstText("stopped by its node: "+c.Message, "stopped by its node")
		}
		return firstText(c.Message, c.Reason)
	}
	return ""
}

// unreadyNode describes a running pod whose node does not answer, "" if it does: the cluster then
// marks the pod as not ready, although its containers are by the last report of the node.
func unreadyNode(pod *corev1.Pod) string {
	var ready, containers corev1.ConditionStatus
	for i := range pod.Status.Conditions {
		switch c := &pod.Status.Conditions[i]; c.Type {
		case corev1.PodReady:
			ready = c.Status
		case corev1.ContainersReady:
			containers = c.Status
		}
	}
	if pod.Status.Phase != corev1.PodRunning || len(pod.Spec.ReadinessGates) > 0 ||
		ready != corev1.ConditionFalse || containers != corev1.ConditionTrue {
		return ""
	}
	return "its node " + pod.Spec.NodeName + " is not ready"
}

// overran reports whether the kubelet ended a pod at its deadline.
func overran(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed && pod.Status.Reason == batchv1.JobReasonDeadlineExceeded // the kubelet uses the same reason
}

// deadline returns how long a pod may run, 0 for no limit.
func deadline(pod *corev1.Pod) time.Duration {
	return time.Duration(ptr.Deref(pod.Spec.ActiveDeadlineSeconds, 0)) * time.Second
}

// wasStopped reports whether a pod ended because of its deletion. The times are whole seconds
// of two clocks: in doubt, an end by a signal counts as stopped, another end does not.
func wasStopped(pod *corev1.Pod, signal bool) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	grace := ptr.Deref(pod.DeletionGracePeriodSeconds, 0)
	requested, end := pod.DeletionTimestamp.Add(-time.Duration(grace)*time.Second), finished(pod)
	switch {
	case end == nil:
		return true
	case signal:
		return grace > 0 || !end.Before(requested)
	}
	return end.After(requested)
}
