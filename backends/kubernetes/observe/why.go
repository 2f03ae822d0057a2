package observe

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// why says what the replicas that do not run wait for, "" if nothing is known: they
// are just being started. Of several reasons it is the one that holds most of them.
func (b *board) why() string {
	if b.suspended {
		return b.held()
	}
	count := map[string]int{}
	who := map[string]spec.Replica{}
	missing := 0
	for _, r := range b.replicas {
		if r.final.State != spec.Pending {
			continue
		}
		a := r.last()
		if a == nil || a.gone {
			missing++
			continue
		}
		text := podWaits(a.pod, b.seen.Events)
		if text == "" {
			continue
		}
		if count[text]++; count[text] == 1 {
			who[text] = r.key
		}
	}
	if text := b.whyNoPods(); missing > 0 && text != "" {
		return text
	}
	most := ""
	for _, r := range b.replicas { // in their order: the text must not change from look to look
		for text, key := range who {
			if key == r.key && text != gangWaits && count[text] > count[most] {
				most = text
			}
		}
	}
	if most == "" && count[gangWaits] > 0 {
		return b.gangWaits()
	}
	switch {
	case most == "":
		return ""
	case count[most] == 1:
		return fmt.Sprintf("replica %s/%d waits: %s", who[most].Role, who[most].ID, most)
	case count[most] == len(b.replicas):
		return "waits: " + most
	}
	return fmt.Sprintf("%d of %d replicas wait: %s", count[most], len(b.replicas), most)
}

// held says who keeps a suspended app from running.
func (b *board) held() string {
	if b.queue != "" {
		return fmt.Sprintf("waits for Kueue to admit it from queue %s", b.queue)
	}
	return "is suspended: somebody must let it run"
}

// unclear tells whether why would say more with events.
func (b *board) unclear() bool {
	return slices.ContainsFunc(b.replicas, func(r *replica) bool {
		if r.final.State != spec.Pending {
			return false
		}
		a := r.last()
		if a == nil || a.gone {
			return true
		}
		text := podWaits(a.pod, nil)
		return text == "" || text == gangWaits
	})
}

// Reasons of containers that wait for their image.
var imageReasons = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}

// starting are the reasons of containers that wait for nothing in particular.
var starting = []string{"ContainerCreating", "PodInitializing", ""}

// What Volcano says of pods whose gang cannot start as a whole, which pod does not
// fit left out, and what we say.
const (
	gangNotReady = "pod group is not ready"
	gangWaits    = "there is no room for all replicas together"
)

// podWaits says what a pod waits for, "" if nothing is known.
func podWaits(pod *corev1.Pod, events []corev1.Event) string {
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range list {
			w := list[i].State.Waiting
			switch {
			case w == nil || slices.Contains(starting, w.Reason):
			case slices.Contains(imageReasons, w.Reason):
				return noImage(&list[i])
			default:
				return firstText(w.Message, w.Reason)
			}
		}
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.PodScheduled || c.Status == corev1.ConditionTrue {
			continue
		}
		if c.Reason == corev1.PodReasonSchedulingGated {
			return "waits for what has gated its scheduling: " + gates(pod)
		}
		text := unschedulable(c.Message)
		switch {
		case strings.Contains(text, gangNotReady):
			return gangWaits
		case text != "":
			return "no node takes it: " + text
		}
	}
	return eventText(events, func(e *corev1.Event) bool { return e.InvolvedObject.UID == pod.UID })
}

// unschedulable leaves out what the scheduler says of preemption, node by node.
func unschedulable(message string) string {
	message = plain(message)
	head, rest, ok := strings.Cut(message, "nodes are available: ")
	if !ok {
		return message
	}
	rest, _, _ = strings.Cut(rest, ". ")
	return head + "nodes are available: " + strings.TrimSuffix(rest, ".")
}

func gates(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

// whyNoPods says why the controller has made no pods.
func (b *board) whyNoPods() string {
	text := eventText(b.seen.Events, func(e *corev1.Event) bool {
		return b.owns(e) && (strings.HasPrefix(e.Reason, "Failed") || strings.HasSuffix(e.Reason, "Failed") || strings.HasSuffix(e.Reason, "Error"))
	})
	if text != "" {
		return "its pods cannot be made: " + text
	}
	for i := range b.seen.PodGroups {
		if text := b.group(&b.seen.PodGroups[i]); text != "" {
			return text
		}
	}
	return ""
}

// owns tells whether an event is about an object that runs the app.
func (b *board) owns(e *corev1.Event) bool {
	switch e.InvolvedObject.Kind {
	case "Job", "JobSet", "PodGroup":
	default:
		return false
	}
	name := e.InvolvedObject.Name
	if b.created != nil && eventTime(e).Before(*b.created) {
		return false // of an earlier one with its name
	}
	if name == b.name || strings.HasPrefix(name, b.name+"-") {
		return true
	}
	return slices.ContainsFunc(b.seen.Jobs, func(j batchv1.Job) bool { return j.Name == name })
}

// eventText is the message of the newest event that is meant.
func eventText(events []corev1.Event, meant func(e *corev1.Event) bool) string {
	var newest *corev1.Event
	for i := range events {
		e := &events[i]
		if e.Type == corev1.EventTypeWarning && meant(e) && (newest == nil || !eventTime(e).Before(eventTime(newest))) {
			newest = e
		}
	}
	if newest == nil {
		return ""
	}
	text := strings.TrimPrefix(apiMessage(newest.Message), "(combined from similar events): ")
	return firstText(strings.TrimPrefix(text, "Error creating: "), newest.Reason)
}
