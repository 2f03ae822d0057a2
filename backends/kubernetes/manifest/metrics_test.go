package manifest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// Pods write their metrics to their log, unless the role says where, or process 1 is not the
// program.
func TestAddMetrics(t *testing.T) {
	t.Parallel()
	shared := true
	own := []corev1.EnvVar{{Name: spec.MetricsVariable, Value: "/own"}}
	for name, test := range map[string]struct {
		pod  corev1.PodSpec
		want string
	}{
		"plain":  {corev1.PodSpec{Containers: []corev1.Container{{}}}, "/proc/1/fd/1"},
		"own":    {corev1.PodSpec{Containers: []corev1.Container{{Env: own}}}, "/own"},
		"shared": {corev1.PodSpec{Containers: []corev1.Container{{}}, ShareProcessNamespace: &shared}, ""},
	} {
		addMetrics(&test.pod)
		got := ""
		for _, e := range test.pod.Containers[0].Env {
			got += e.Value
		}
		if got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
