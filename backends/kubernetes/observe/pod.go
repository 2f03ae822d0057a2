package observe

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// codeUnknown is the exit code of a program that failed with an unknown one.
const codeUnknown = 1

// Reasons of terminated containers: the kubelet's (StartError and Unknown) and
// the runtime's.
const (
	reasonStartError  = "StartError"
	reasonCannotRun   = "ContainerCannotRun"
	reasonOOM         = "OOMKilled"
	reasonUnknownExit = "ContainerStatusUnknown"
)

// read is what a pod says of its replica, whatever the controller does about it.
func read(pod *corev1.Pod) spec.ReplicaStatus {
	s := spec.ReplicaStatus{State: podState(pod.Status.Phase), Hostname: hostname(pod)}
	c := decisive(pod)
	if c != nil {
		s.StartedAt = started(c)
	}
	if !s.State.Terminal() {
		return s
	}
	s.FinishedAt = finished(pod)
	if c != nil && c.State.Terminated != nil {
		end(&s, pod, c)
	}
	if note := fate(pod); note != "" {
		s.Msg = note
	}
	if s.State == spec.Failed && s.ExitCode == nil && s.Msg == "" {
		s.Msg = firstText(pod.Status.Message, pod.Status.Reason)
	}
	return s
}

// podState is TorchX's reading of a phase.
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

// hostname is the pod's name in DNS, as in TorchX.
func hostname(pod *corev1.Pod) string {
	if pod.Status.PodIP == "" {
		return ""
	}
	ip := strings.ReplaceAll(strings.ReplaceAll(pod.Status.PodIP, ".", "-"), ":", "-")
	return ip + "." + pod.Namespace + ".pod.cluster.local"
}

// decisive is the container whose end is the pod's: the first one, which runs the
// role, or, if that is fine and the pod is not, the one that failed.
func decisive(pod *corev1.Pod) *corev1.ContainerStatus {
	var first, bad *corev1.ContainerStatus
	look := func(list []corev1.ContainerStatus) {
		for i := range list {
			c := &list[i]
			if first == nil && len(pod.Spec.Containers) > 0 && c.Name == pod.Spec.Containers[0].Name {
				first = c
			}
			if t := c.State.Terminated; t != nil && t.ExitCode != 0 && (bad == nil || t.FinishedAt.Before(&bad.State.Terminated.FinishedAt)) {
				bad = c
			}
		}
	}
	look(pod.Status.InitContainerStatuses)
	look(pod.Status.ContainerStatuses)
	good := first == nil || first.State.Terminated == nil || first.State.Terminated.ExitCode == 0
	if pod.Status.Phase == corev1.PodFailed && good && bad != nil {
		return bad
	}
	return first
}

func started(c *corev1.ContainerStatus) *time.Time {
	switch {
	case c.State.Terminated != nil:
		return moment(c.State.Terminated.StartedAt)
	case c.State.Running != nil:
		return moment(c.State.Running.StartedAt)
	case c.LastTerminationState.Terminated != nil: // it is started again
		return moment(c.LastTerminationState.Terminated.StartedAt)
	}
	return nil
}

// finished is when the last container ended, else when the pod is known to be over.
func finished(pod *corev1.Pod) (at *time.Time) {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			if t := list[i].State.Terminated; t != nil {
				at = later(at, moment(t.FinishedAt))
			}
		}
	}
	if at != nil {
		return at
	}
	for i := range pod.Status.Conditions {
		at = later(at, moment(pod.Status.Conditions[i].LastTransitionTime))
	}
	return at
}

// end reads how a container ended.
func end(s *spec.ReplicaStatus, pod *corev1.Pod, c *corev1.ContainerStatus) {
	t := c.State.Terminated
	code := int(t.ExitCode)
	switch t.Reason {
	case reasonUnknownExit: // its code is made up
		s.Msg = firstText(t.Message, "its node does not know how it ended")
		return
	case reasonStartError, reasonCannotRun:
		code, s.Msg = startFailure(t.Message)
	case reasonOOM:
		s.Msg = outOfMemory(pod, c, code)
	}
	s.ExitCode = &code
	s.Signal = signalName(code)
	if s.Msg == "" && len(pod.Spec.Containers) > 0 && c.Name != pod.Spec.Containers[0].Name && code != 0 {
		s.Msg = fmt.Sprintf("container %s ended with exit code %d", c.Name, code)
	}
	if t.Reason != reasonStartError && t.Reason != reasonCannotRun {
		s.StructuredErrorMsg = errorFile(t.Message)
	}
}

// startFailure reads why the runtime (runc, crun) could not start a program.
func startFailure(message string) (code int, why string) {
	_, exec, found := strings.Cut(message, `exec: "`)
	if !found {
		return spec.ExitNotStarted, firstText(message, "its container could not be started")
	}
	exec = strings.TrimSuffix(plain(exec), ": unknown")
	program, why, _ := strings.Cut(exec, `"`)
	why = strings.TrimPrefix(why, ": ")
	text := fmt.Sprintf("entry point %s: %s", program, strings.TrimPrefix(why, "stat "+program+": "))
	if strings.Contains(why, "not found") || strings.Contains(why, "no such file") {
		return spec.ExitNotFound, text
	}
	return spec.ExitNotExecutable, text
}

// outOfMemory is a note: a child that was killed for memory need not fail its parent.
func outOfMemory(pod *corev1.Pod, c *corev1.ContainerStatus, code int) string {
	text := "out of memory (OOMKilled)"
	if code == 0 {
		text = "one of its processes ran out of memory (OOMKilled)"
	}
	for i := range pod.Spec.Containers {
		limit, ok := pod.Spec.Containers[i].Resources.Limits[corev1.ResourceMemory]
		if ok && pod.Spec.Containers[i].Name == c.Name {
			text += ", the limit is " + limit.String()
		}
	}
	return text
}

// fate is what was done to a pod from outside, "" for nothing.
func fate(pod *corev1.Pod) string {
	message := plain(pod.Status.Message)
	says := func(what string) string {
		if message == "" {
			return what
		}
		return what + ": " + message
	}
	switch pod.Status.Reason {
	case "Evicted":
		return says("evicted by its node")
	case "NodeLost":
		return says("its node is lost")
	case "Preempting", "Preempted":
		return says("preempted")
	case "Terminated", "Shutdown", "NodeShutdown":
		return says("its node was shut down")
	case "DeadlineExceeded":
		return says("it ran longer than its deadline")
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		switch c.Reason {
		case corev1.PodReasonPreemptionByScheduler:
			return firstText("preempted: "+c.Message, "preempted")
		case "DeletionByTaintManager", "DeletionByPodGC":
			return firstText("its node is lost: "+c.Message, "its node is lost")
		case "EvictionByEvictionAPI":
			return firstText("evicted: "+c.Message, "evicted")
		case corev1.PodReasonTerminationByKubelet:
			return firstText("ended by its node: "+c.Message, "ended by its node")
		}
		return firstText(c.Message, c.Reason)
	}
	return ""
}

// stopped tells whether a pod ended because it was deleted, and not before. The
// times are whole seconds, of two clocks: what a signal ended is taken for stopped
// in doubt, all else for its own end.
func stopped(pod *corev1.Pod, signal bool) bool {
	if pod.DeletionTimestamp == nil {
		return false
	}
	grace := int64(0)
	if pod.DeletionGracePeriodSeconds != nil {
		grace = *pod.DeletionGracePeriodSeconds
	}
	requested, end := pod.DeletionTimestamp.Add(-time.Duration(grace)*time.Second), finished(pod)
	switch {
	case end == nil:
		return true
	case signal:
		return grace > 0 || !end.Before(requested)
	}
	return end.After(requested)
}
