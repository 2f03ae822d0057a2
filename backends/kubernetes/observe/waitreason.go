package observe

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/pattern"
	"torchx/runtime/spec"
)

// waitReason describes what pending replicas wait for, "" if they are just starting. Of
// several reasons it returns the most frequent one.
func (b *assessment) waitReason() string {
	if b.suspended {
		return b.suspendReason()
	}
	count := map[string]int{}
	first := map[string]spec.Replica{} // by reason
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
		text := podWaitReason(a.pod, b.seen.Events)
		if r.final.Attempt > a.status.Attempt {
			text = r.final.Msg // how the last pod was disrupted
		}
		if text == "" {
			continue
		}
		if count[text]++; count[text] == 1 {
			first[text] = r.key
		}
	}
	if text := b.noPodsReason(); missing > 0 && text != "" {
		return text
	}
	most := ""                     // the most frequent reason
	for _, r := range b.replicas { // in order: the text must not change between calls
		for text, key := range first {
			if key == r.key && text != gangTooLarge && count[text] > count[most] {
				most = text
			}
		}
	}
	if most == "" && count[gangTooLarge] > 0 {
		return b.gangReason()
	}
	switch {
	case most == "":
		return b.orderReason()
	case count[most] == 1:
		return fmt.Sprintf("replica %s/%d waits: %s", first[most].Role, first[most].ID, most)
	case count[most] == len(b.replicas):
		return "waits: " + most
	}
	return fmt.Sprintf("%d of %d replicas wait: %s", count[most], len(b.replicas), most)
}

// isWaiting reports whether a replica could start but has not: neither the order of the app nor a
// limit on its replicas holds it back.
func (b *assessment) isWaiting() bool {
	return b.orderReason() == "" && slices.ContainsFunc(b.replicas, func(r *replica) bool {
		return r.final.State == spec.Pending && (r.unit == nil || !r.unit.limited)
	})
}

// suspendReason describes what a suspended app waits for.
func (b *assessment) suspendReason() string {
	if b.queue != "" {
		return b.kueueReason()
	}
	return "is suspended by another client: set its spec.suspend to false to resume it"
}

// needsEvents reports whether events could improve waitReason.
func (b *assessment) needsEvents() bool {
	return slices.ContainsFunc(b.replicas, func(r *replica) bool {
		if r.final.State != spec.Pending {
			return false
		}
		a := r.last()
		if a == nil || a.gone || r.final.Attempt > a.status.Attempt {
			return true
		}
		text := podWaitReason(a.pod, nil)
		return text == "" || text == gangTooLarge
	})
}

// imageReasons lists the reasons of containers that wait for their image.
var imageReasons = []string{"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"}

// final lists those reasons that do not go away by themselves.
var final = []string{"InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"}

// blocked returns what keeps the pods that wait from starting.
func (b *assessment) blocked() (worst spec.Block) {
	for _, r := range b.replicas {
		a := r.last()
		if r.final.State != spec.Pending || !a.isAlive() {
			continue
		}
		for c := range containers(a.pod) {
			switch w := c.State.Waiting; {
			case w == nil:
			case slices.Contains(final, w.Reason):
				return spec.BlockedForGood
			case slices.Contains(imageReasons, w.Reason):
				worst = spec.BlockedByImage
			}
		}
	}
	return worst
}

// starting lists the reasons of containers that are starting normally.
var starting = []string{"ContainerCreating", "PodInitializing", ""}

// Volcano's message for pods whose gang does not fit as a whole, and the text for users.
const (
	gangNotReady = "pod group is not ready"
	gangTooLarge = "the free resources are not enough for all replicas together"
)

// podWaitReason describes what a pod waits for, "" if nothing is known.
func podWaitReason(pod *corev1.Pod, events []corev1.Event) string {
	for c := range containers(pod) {
		w := c.State.Waiting
		switch {
		case w == nil || slices.Contains(starting, w.Reason):
		case slices.Contains(imageReasons, w.Reason):
			return imageReason(c)
		default:
			return firstText(w.Message, w.Reason)
		}
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type != corev1.PodScheduled || c.Status == corev1.ConditionTrue {
			continue
		}
		if c.Reason == corev1.PodReasonSchedulingGated {
			return "held by scheduling gates: " + gates(pod)
		}
		if text := unschedulable(c.Message); text != "" {
			return text
		}
	}
	e := newestWarning(events, func(e *corev1.Event) bool { return e.InvolvedObject.UID == pod.UID })
	switch {
	case e == nil && slices.ContainsFunc(events, func(e corev1.Event) bool { return e.Reason == Pulling && e.InvolvedObject.UID == pod.UID }):
		return "its image is being pulled: " + pulledImages(pod)
	case e == nil:
		return ""
	case e.Reason == "FailedScheduling":
		return unschedulable(e.Message)
	case e.Reason == "Failed": // the node tries again for a while
		_, text := startFailure(EventText(e))
		return text
	}
	return EventText(e)
}

// unschedulable explains the scheduler's message, without its remarks on preemption, node by
// node; "" if the message is empty.
func unschedulable(message string) string {
	message = plain(message)
	switch {
	case message == "":
		return ""
	case strings.Contains(message, gangNotReady):
		return gangTooLarge
	}
	if head, rest, ok := strings.Cut(message, "nodes are available: "); ok {
		rest, _, _ = strings.Cut(rest, ". ")
		message = head + "nodes are available: " + strings.TrimSuffix(rest, ".")
	}
	return "no node can run it: " + message
}

// Pulling is the reason of the event with which a node begins to pull an image.
const Pulling = "Pulling"

// pulledImages returns the images of the containers that have not started.
func pulledImages(pod *corev1.Pod) string {
	var names []string
	for i := range pod.Spec.Containers {
		if name := pod.Spec.Containers[i].Image; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func gates(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

// refusedPod matches what comes before the cause of a refusal: each try has another name.
var refusedPod = pattern.Lazy(`^pods "[^"]*" is forbidden: `)

// noPodsReason describes why the controller has created no pods.
func (b *assessment) noPodsReason() string {
	text := EventText(newestWarning(b.seen.Events, func(e *corev1.Event) bool {
		return b.isAbout(e) && (strings.HasPrefix(e.Reason, "Failed") || strings.HasSuffix(e.Reason, "Failed") || strings.HasSuffix(e.Reason, "Error"))
	}))
	if text != "" {
		return "its pods cannot be created: " + refusedPod().ReplaceAllString(text, "")
	}
	for i := range b.seen.PodGroups {
		if text := b.podGroupReason(&b.seen.PodGroups[i]); text != "" {
			return text
		}
	}
	return ""
}

// isAbout reports whether an event is about an object that runs the app.
func (b *assessment) isAbout(e *corev1.Event) bool {
	if !slices.Contains([]string{"Job", "JobSet", "PodGroup"}, e.InvolvedObject.Kind) {
		return false
	}
	name := e.InvolvedObject.Name
	if b.created != nil && EventTime(e).Before(*b.created) {
		return false // of an earlier object with its name
	}
	if name == b.name || strings.HasPrefix(name, b.name+"-") {
		return true
	}
	return slices.ContainsFunc(b.seen.Jobs, func(j batchv1.Job) bool { return j.Name == name })
}

// newestWarning returns the newest warning that matches, nil if none does.
func newestWarning(
	events []corev1.Event, matches func(e *corev1.Event) bool,
) (newest *corev1.Event) {
	for i := range events {
		e := &events[i]
		if e.Type == corev1.EventTypeWarning && matches(e) &&
			(newest == nil || !EventTime(e).Before(EventTime(newest))) {
			newest = e
		}
	}
	return newest
}

// EventText returns the message of an event, "" for nil.
func EventText(e *corev1.Event) string {
	if e == nil {
		return ""
	}
	text := strings.TrimPrefix(apiMessage(e.Message), "(combined from similar events): ")
	return firstText(strings.TrimPrefix(text, "Error creating: "), e.Reason)
}

// EventTime returns when an event happened last.
func EventTime(e *corev1.Event) time.Time {
	if !e.LastTimestamp.IsZero() {
		return e.LastTimestamp.Time
	}
	if e.Series != nil {
		return e.Series.LastObservedTime.Time
	}
	return e.EventTime.Time
}
