package manifest

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
)

// TestCheckSize: what the cluster's store cannot hold is refused before it is sent.
func TestCheckSize(t *testing.T) {
	t.Parallel()
	job := &VolcanoJob{}
	long := corev1.EnvVar{Name: "LONG", Value: strings.Repeat("x", 1000)}
	for replicas, fits := range map[int]bool{1000: true, 1500: false} {
		one := kube.VolcanoTask{}
		one.Template.Spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{long}}}
		job.Spec.Tasks = nil
		for range replicas {
			job.Spec.Tasks = append(job.Spec.Tasks, one)
		}
		err := (&Request{Objects: []Object{job}}).CheckSize()
		switch {
		case fits && err != nil:
			t.Errorf("%d replicas: %v", replicas, err)
		case !fits && (!errors.Is(err, kube.ErrTooLarge) || !strings.Contains(err.Error(), "gang=jobset")):
			t.Errorf("%d replicas: error %v", replicas, err)
		}
	}
}
