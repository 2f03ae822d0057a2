package kubernetes

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestWaitWhileUnreachable: Wait tolerates a server that is unreachable for longer than a
// watch or a connection lasts, and then sees what happened meanwhile.
func TestWaitWhileUnreachable(t *testing.T) {
	t.Parallel()
	const away = 25 * time.Second
	eachForm(t, func(t *testing.T, o *observed) {
		id := o.start(t, 2, "sleep 15; exit 4", nil, nil)
		o.until(t, id, "RUNNING", func(s *spec.Status) bool { return s.State == spec.Running })
		time.AfterFunc(time.Second, func() {
			o.proxy.Cut()
			time.AfterFunc(away, func() {
				if err := o.proxy.Restore(); err != nil {
					t.Error(err)
				}
			})
		})
		s, err := o.Wait(t.Context(), id)
		if err != nil || s.State != spec.Failed || *s.ExitCode != 4 {
			t.Errorf("got %+v, %v, want no error and s.State == spec.Failed and *s.ExitCode == 4", s, err)
		}
	})
}

// watched returns when a client watches the app's pods.
func (o *observed) watched(t *testing.T) {
	t.Helper()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		for _, request := range o.proxy.Requests() {
			if strings.Contains(request, "/pods") && strings.Contains(request, "watch=") {
				return
			}
		}
		if time.Since(began) > time.Minute {
			t.Fatal("no client watches the pods after a minute")
		}
	}
}

// TestDeletedByHand: waiting for an app that another client deletes is an error.
func TestDeletedByHand(t *testing.T) {
	t.Parallel()
	eachForm(t, func(t *testing.T, o *observed) {
		id := o.start(t, 1, "sleep 600", nil, nil)
		o.until(t, id, "RUNNING", func(s *spec.Status) bool { return s.State == spec.Running })
		failed := make(chan error, 1)
		go func() {
			_, err := o.Wait(t.Context(), id)
			failed <- err
		}()
		target, err := o.target(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		a, err := target.find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		o.watched(t)
		if err := target.remove(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-failed:
			if !errors.Is(err, backend.ErrNotFound) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), id) {
				t.Errorf(`error %v, want errors.Is(err, backend.ErrNotFound) and !Contains(err.Error(), "\n") and Contains(err.Error(), id)`, err)
			}
		case <-time.After(2 * time.Minute):
			t.Error("Wait did not return within 2 minutes")
		}
	})
}

// TestDeletedAtItsEnd: Wait returns the result of an app that the cluster deletes as soon as
// it has ended.
func TestDeletedAtItsEnd(t *testing.T) {
	t.Parallel()
	eachForm(t, func(t *testing.T, o *observed) {
		id := o.start(t, 2, "sleep 5; exit 6", nil, map[string]string{"ttl_seconds": "0"})
		s, err := o.Wait(t.Context(), id)
		if err != nil || s.State != spec.Failed || *s.ExitCode != 6 {
			t.Errorf("got %+v, %v, want no error and s.State == spec.Failed and *s.ExitCode == 6", s, err)
		}
	})
}

// TestDeletedPod: an app fails because of a pod that another client deletes.
func TestDeletedPod(t *testing.T) {
	t.Parallel()
	eachForm(t, func(t *testing.T, o *observed) {
		if o.gang == manifest.FormVolcano {
			return // it starts the job again
		}
		code := "0"
		if o.gang == manifest.FormJobSet {
			code = "1" // with a rule for disruptions, Kubernetes counts a deleted pod by its exit code
		}
		id := o.start(t, 2, "trap 'sleep $((5-3*JOB_COMPLETION_INDEX)); exit "+code+"' TERM; while true; do sleep 0.1; done", nil, nil) // times are whole seconds
		o.until(t, id, "RUNNING", func(s *spec.Status) bool {
			r := s.Replica(spec.Replica{Role: "r", ID: 1})
			return s.State == spec.Running && r.State == spec.Running
		})
		done := make(chan *spec.Status, 1)
		go func() {
			s, err := o.Wait(t.Context(), id)
			if err != nil {
				t.Error(err)
			}
			done <- s
		}()
		o.watched(t)
		o.deletePod(t, id, "1")
		s := <-done
		if s == nil || s.State != spec.Failed || s.FirstFailure == nil || s.FirstFailure.ID != 1 || !strings.Contains(s.Msg, "its pod was deleted") {
			t.Errorf(`got %+v, want s != nil and s.State == spec.Failed and s.FirstFailure != nil and s.FirstFailure.ID == 1 and Contains(s.Msg, "its pod was deleted")`, s)
		}
	})
}

func (o *observed) deletePod(t *testing.T, id, index string) {
	t.Helper()
	target, err := o.target(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	pods, err := kube.List[corev1.Pod](context.WithoutCancel(t.Context()), target.Client, kube.Pods, o.namespace, kube.ListOptions{LabelSelector: kube.AnnotationCompletionIndex + "=" + index})
	if err != nil || len(pods) != 1 {
		t.Fatalf("got %+v, %v, want no error and len(pods) == 1", pods, err)
	}
	if err := target.Delete(t.Context(), kube.Pods, o.namespace, pods[0].Name, "", nil); err != nil {
		t.Fatal(err)
	}
}

// TestDeletedBeforeTheWatch: Jobs that are deleted between the first list and the watch are
// reported as deleted.
func TestDeletedBeforeTheWatch(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	target, err := s.target(t.Context(), s.namespace+":gone")
	if err != nil {
		t.Fatal(err)
	}
	running := batchv1.Job{}
	running.Name, running.UID, running.Status.Active = "gone", "1", 1
	f := newFollower(target, &observe.Observation{Jobs: []batchv1.Job{running}})
	go func() { _ = f.main.Run(t.Context()) }()
	go func() { _ = f.pods.Run(t.Context()) }()
	for {
		main, pods := f.main.Changed(), f.pods.Changed()
		if seen, err := f.current(t.Context()); seen != nil || err != nil {
			if !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("got %+v, %v, want errors.Is(err, backend.ErrNotFound)", seen, err)
			}
			return
		}
		select {
		case <-main:
		case <-pods:
		}
	}
}
