package observe

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"torchx/backends/kubernetes/kube"
)

// podGroupReason describes what a gang without pods waits for. Volcano creates the pods when
// all of them fit.
func (b *assessment) podGroupReason(g *kube.PodGroup) string {
	if g.Status.Phase != "" && g.Status.Phase != "Pending" {
		return ""
	}
	if text := b.tooLarge(g.Spec.MinResources); text != "" {
		return "waits: " + text
	}
	for _, c := range g.Status.Conditions {
		if text := firstText(c.Message, c.Reason); c.Type == "Unschedulable" &&
			c.Status == string(corev1.ConditionTrue) && !strings.Contains(text, gangNotReady) {
			return fmt.Sprintf("waits in queue %s: %s", g.Spec.Queue, text)
		}
	}
	return fmt.Sprintf("waits in queue %s until all replicas fit together%s", g.Spec.Queue,
		listed(g.Spec.MinResources))
}

// gangReason describes what a gang with pods waits for.
func (b *assessment) gangReason() string {
	var need corev1.ResourceList
	if len(b.seen.PodGroups) > 0 {
		need = b.seen.PodGroups[0].Spec.MinResources
	}
	if text := b.tooLarge(need); text != "" {
		return "waits: " + text
	}
	return "waits: " + gangTooLarge + listed(need)
}

// tooLarge compares the gang's demand with all nodes, and its largest pod with the largest
// node, as if they were empty.
func (b *assessment) tooLarge(gang corev1.ResourceList) string {
	if len(b.seen.Nodes) == 0 {
		return ""
	}
	all, largest := corev1.ResourceList{}, corev1.ResourceList{}
	usable := 0
	for i := range b.seen.Nodes {
		n := &b.seen.Nodes[i]
		if n.Spec.Unschedulable {
			continue
		}
		usable++
		addTo(all, n.Status.Allocatable)
		for name, q := range n.Status.Allocatable {
			if q.Cmp(largest[name]) > 0 {
				largest[name] = q
			}
		}
	}
	nodes := fmt.Sprintf("the %d nodes together have", usable)
	if usable == 1 {
		nodes = "the only node has"
	}
	if name, ok := exceeds(gang, all); ok {
		need, have := gang[name], all[name]
		return fmt.Sprintf("all replicas together need %s %s, but %s %s", name, Amount(name, need),
			nodes, Amount(name, have))
	}
	for i := range b.roles {
		for _, u := range b.units {
			if u.role != i {
				continue
			}
			requests := podRequests(u.pod)
			if name, ok := exceeds(requests, largest); ok {
				need, have := requests[name], largest[name]
				return fmt.Sprintf("a replica of role %s needs %s %s, but the largest node has %s",
					b.roles[i].name, name, Amount(name, need), Amount(name, have))
			}
		}
	}
	return ""
}

// exceeds returns a resource that is needed in a larger amount than exists.
func exceeds(need, have corev1.ResourceList) (corev1.ResourceName, bool) {
	for _, name := range slices.Sorted(maps.Keys(need)) {
		q, existing := need[name], have[name]
		if nodeResource(name) && q.Cmp(existing) > 0 {
			return name, true
		}
	}
	return "", false
}

// nodeResource reports whether a resource is one of nodes. Volcano adds others for quotas.
func nodeResource(name corev1.ResourceName) bool {
	text := string(name)
	return !strings.HasPrefix(text, "requests.") && !strings.HasPrefix(text, "limits.") &&
		!strings.HasPrefix(text, "count/") && name != corev1.ResourcePods
}

// listed formats resources in parentheses.
func listed(l corev1.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if q := l[name]; nodeResource(name) && !q.IsZero() {
			parts = append(parts, fmt.Sprintf("%s %s", name, Amount(name, q)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Amount formats an amount as apps ask for it: memory in MB, CPUs as a decimal fraction.
func Amount(name corev1.ResourceName, q resource.Quantity) string {
	const mega = 1e6
	switch name {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		return fmt.Sprintf("%d MB", int64(q.AsApproximateFloat64()/mega))
	case corev1.ResourceCPU:
		return strconv.FormatFloat(float64(q.MilliValue())/1000, 'f', -1, 64)
	}
	return q.String()
}

// podRequests sums the requests of a pod's containers. A limit without a request counts as
// one.
func podRequests(pod *corev1.PodSpec) corev1.ResourceList {
	sum := corev1.ResourceList{}
	for i := range pod.Containers {
		r := &pod.Containers[i].Resources
		requests := corev1.ResourceList{}
		maps.Copy(requests, r.Limits)
		maps.Copy(requests, r.Requests)
		addTo(sum, requests)
	}
	return sum
}

// addTo adds amounts to a sum.
func addTo(sum, amounts corev1.ResourceList) {
	for name, q := range amounts {
		total := sum[name]
		total.Add(q)
		sum[name] = total
	}
}
