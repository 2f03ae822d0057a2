package kube

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// TestSlim: the limits of a pod stay if they explain why a container ran out of memory.
func TestSlim(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"OOMKilled", "Error"} {
		for _, last := range []bool{false, true} {
			end := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason}}
			s := corev1.ContainerStatus{State: end}
			if last {
				s = corev1.ContainerStatus{LastTerminationState: end}
			}
			limits := corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
			p := &corev1.Pod{
				Spec:   corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: limits}}}},
				Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{s}},
			}
			slim(p)
			kept := len(p.Spec.Containers[0].Resources.Limits) == 1
			if want := reason == "OOMKilled"; kept != want || p.Spec.NodeName != "n" {
				t.Errorf("%s, before the last start: %v: got limits kept: %v, want %v", reason, last, kept, want)
			}
		}
	}
}
