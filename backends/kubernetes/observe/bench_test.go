package observe

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"torchx/backends/kubernetes/kube"
)

// BenchmarkStatus1000 measures the status of an app with 1,000 replicas.
func BenchmarkStatus1000(b *testing.B) {
	data, err := os.ReadFile("testdata/job_running.json")
	if err != nil {
		b.Fatal(err)
	}
	s := &Observation{}
	if err := json.Unmarshal(data, s); err != nil {
		b.Fatal(err)
	}
	const count = 1000
	n := int32(count)
	s.App = nil
	s.Jobs[0].Spec.Completions = &n
	pod := s.Pods[0]
	s.Pods = nil
	for i := range count {
		p := *pod.DeepCopy()
		p.Name, p.Annotations[kube.AnnotationCompletionIndex] = fmt.Sprint("p-", i), fmt.Sprint(i)
		s.Pods = append(s.Pods, p)
	}
	for b.Loop() {
		if st := s.Status(); len(st.Roles[0].Replicas) != count {
			b.Fatal(len(st.Roles[0].Replicas))
		}
	}
}
