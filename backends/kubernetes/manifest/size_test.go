package manifest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// TestCheckSize: an object that is too large for etcd is refused before it is sent.
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
			t.Errorf("%d replicas: got error %v, want ErrTooLarge with gang=jobset in it", replicas, err)
		}
	}
}

// TestCheckSizeOfJobs: a Job or JobSet that is too large for etcd is refused with what to shorten.
func TestCheckSizeOfJobs(t *testing.T) {
	t.Parallel()
	for gang, kind := range map[string]string{"job": "Job ", "jobset": "JobSet "} {
		for bytes, fits := range map[int]bool{1 << 20: true, 2 << 20: false} {
			r := role("w", nil)
			for range bytes / 1000 {
				r.Args = append(r.Args, strings.Repeat("x", 1000))
			}
			_, req := plan(t, input(t, "gang="+gang, r))
			err := req.CheckSize()
			if fits && err != nil || !fits && (!errors.Is(err, kube.ErrTooLarge) || !strings.Contains(err.Error(), kind)) {
				t.Errorf("gang=%s, %d bytes: got %v", gang, bytes, err)
			}
		}
	}
}

// TestManyReplicas: a large Volcano Job has a task per role, a small one a task per replica,
// as in TorchX.
func TestManyReplicas(t *testing.T) {
	t.Parallel()
	many := func(n int) spec.Role {
		return role("w", func(r *spec.Role) {
			r.NumReplicas, r.Args = n, []string{"${replica_id}", "${rank0_env}"}
			r.MinReplicas = new(n - 1)
		})
	}
	_, small := plan(t, input(t, "gang=volcano", many(manyReplicas-1)))
	if got := len(pods(small)); got != manyReplicas-1 {
		t.Errorf("got %d tasks for %d replicas, want one each", got, manyReplicas-1)
	}
	for _, n := range []int{manyReplicas - 1, 2000} {
		_, req := plan(t, input(t, "gang=volcano", many(n), role("ps", nil)))
		tasks := req.Objects[0].(*VolcanoJob).Spec.Tasks
		if len(tasks) != 2 {
			t.Fatalf("got %d tasks for %d+1 replicas, want one for each role", len(tasks), n)
		}
		w := tasks[0]
		if w.Name != "w" || w.Replicas != int32(n) || *w.MinAvailable != int32(n-1) {
			t.Errorf("got task %s with %d replicas, min %d, want w with %d, min %d", w.Name, w.Replicas, *w.MinAvailable, n, n-1)
		}
		first := env(&w.Template)
		if got, want := first[indexVariable], "field metadata.annotations['volcano.sh/task-index']"; got != want {
			t.Errorf("got index %q, want %q", got, want)
		}
		if got, want := w.Template.Spec.Containers[0].Command[1:], []string{"$(TORCHX_REPLICA_ID)", spec.Rank0HostVariable}; !slices.Equal(got, want) {
			t.Errorf("got arguments %q, want %q", got, want)
		}
		for _, task := range tasks {
			if got := env(&task.Template)[spec.Rank0HostVariable]; got != "a-x1-w-0.a-x1" {
				t.Errorf("got rank 0 on host %q for %s, want a-x1-w-0.a-x1", got, task.Name)
			}
		}
		if err := req.CheckSize(); err != nil {
			t.Errorf("%d replicas: %v", n, err)
		}
	}
	_, req := plan(t, input(t, "gang=volcano", many(20_000), role("ps", nil)))
	job, service := req.Objects[0].(*VolcanoJob), req.Objects[1].(*Service)
	if _, lists := job.Spec.Plugins[servicePlugin]; lists {
		t.Error("got the plugin svc for 20,000 replicas, want none: it puts all their names into one variable")
	}
	for _, p := range pods(req) {
		if got := env(p)[spec.Rank0HostVariable]; got != service.Name {
			t.Errorf("got rank 0 on host %q, want the service %s", got, service.Name)
		}
	}
	if got := service.Spec.Selector; got[kube.AnnotationVolcanoTask] != "w" || got[kube.AnnotationVolcanoIndex] != "0" {
		t.Errorf("got a service for %v, want for index 0 of task w", got)
	}
	if err := req.CheckSize(); err != nil {
		t.Errorf("20,000 replicas: %v", err)
	}
	differ := many(2000)
	differ.Metadata = map[string]any{"kubernetes": map[string]any{"spec": map[string]any{"nodeName": "n${replica_id}"}}}
	if _, req = plan(t, input(t, "gang=volcano", differ)); len(pods(req)) != 2000 {
		t.Errorf("got %d tasks for replicas with different overlays, want 2000", len(pods(req)))
	}
}
