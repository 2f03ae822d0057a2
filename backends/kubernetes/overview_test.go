package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// failingJob is a Job of torchx that fails without a pod that runs.
const failingJob = `{apiVersion: batch/v1, kind: Job, metadata: {name: %[1]s-r, labels: &l {app.kubernetes.io/managed-by: torchx.pytorch.org, app.kubernetes.io/instance: %[1]s}},
 spec: {activeDeadlineSeconds: 1, completionMode: Indexed, completions: 1, template: {metadata: {labels: *l},
  spec: {restartPolicy: Never, nodeSelector: {no: node}, containers: [{name: r-0, image: none, command: ["true"]}]}}}}`

// TestListRequests: a list of many apps, and all their statuses, take at most five requests.
func TestListRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const count = 60
	var ids []string
	for i := range count {
		name := fmt.Sprintf("fail-%d", i)
		s.Create(t, s.namespace, fmt.Sprintf(failingJob, name))
		ids = append(ids, s.namespace+":"+name)
	}
	s.Eventually(t, "all Jobs have failed", func(ctx context.Context) (bool, error) {
		jobs, err := kube.List[batchv1.Job](ctx, must(s.client(kube.ClusterRef{}, nil)), kube.Jobs, s.namespace, kube.ListOptions{})
		failed := 0
		for i := range jobs {
			failed += len(jobs[i].Status.Conditions) / 2 // FailureTarget and Failed
		}
		return failed == count, err
	})
	proxy := s.Proxy(t)
	b := s.as(proxy.Kubeconfig)
	apps, err := b.List(t.Context())
	if err != nil || len(apps) != count {
		t.Fatalf("got %d apps, %v, want %d", len(apps), err, count)
	}
	statuses, err := b.DescribeAll(t.Context(), append(ids, s.namespace+":none"))
	if err != nil || len(statuses) != count {
		t.Fatalf("got %d statuses, %v, want %d", len(statuses), err, count)
	}
	for id, got := range statuses {
		if got.State != spec.Failed || got.ExitCode == nil || *got.ExitCode != spec.ExitDeadline {
			t.Errorf("got %s %v for %s, want FAILED %d", got.State, got.ExitCode, id, spec.ExitDeadline)
		}
	}
	if sent := proxy.Requests(); len(sent) > 5 {
		t.Errorf("got %d requests for %d apps, want at most 5:\n%s", len(sent), count, strings.Join(sent, "\n"))
	}
}

// TestListRequestsOfExpired: the events that tell how deleted Jobs ended are read once for all apps.
func TestListRequestsOfExpired(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const count = 4
	var ids []string
	for i := range count {
		p := s.plan(fmt.Sprintf("pair-%d", i), map[string]any{"gang": "job", "reserved_millicpu": 1000, "ttl_seconds": 3600})
		if err := s.Submit(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		first := p.Request.(*manifest.Request).Objects[0]
		if err := s.Of(s.namespace, first.Type().APIVersion, first.Type().Kind).Delete(t.Context(), first.Meta().Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, p.ID)
	}
	proxy := s.Proxy(t)
	statuses, err := s.as(proxy.Kubeconfig).DescribeAll(t.Context(), ids)
	if err != nil || len(statuses) != count {
		t.Errorf("got %d statuses, %v, want %d", len(statuses), err, count)
	}
	if sent := proxy.Requests(); len(sent) > 5 {
		t.Errorf("got %d requests for %d apps, want at most 5:\n%s", len(sent), count, strings.Join(sent, "\n"))
	}
}

// TestListOfFewRights: forms that the user may not list are left out with one warning.
func TestListOfFewRights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	p := s.plan("pair-1", map[string]any{"gang": "job", "reserved_millicpu": 1000})
	if err := s.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	var warnings []string
	b := s.as(s.User(t, s.namespace, `{apiGroups: [batch], resources: [jobs], verbs: [get, list, patch, delete]}`))
	b.config.Warn = func(line string) { warnings = append(warnings, line) }
	for range 2 {
		if apps, err := b.List(t.Context()); err != nil || len(apps) != 1 || apps[0].ID != p.ID {
			t.Fatalf("got %v, %v, want the app %s", apps, err, p.ID)
		}
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "you may not list jobs.batch.volcano.sh, jobsets.jobset.x-k8s.io") {
		t.Errorf("got warnings %q, want one that names the forms", warnings)
	}
	if got, err := b.DescribeAll(t.Context(), []string{p.ID}); err != nil || got[p.ID] == nil {
		t.Errorf("got %v, %v, want the status of %s", got, err, p.ID)
	}
	if err := b.Cancel(t.Context(), p.ID, backend.CancelOptions{Discard: true}); err != nil {
		t.Errorf("cancel with rights on Jobs alone: %v", err)
	}
	if err := b.Delete(t.Context(), p.ID, backend.DeleteOptions{}); err != nil {
		t.Errorf("delete with rights on Jobs alone: %v", err)
	}
	s.Eventually(t, "nothing is left of the app", func(context.Context) (bool, error) { return len(s.objects()) == 0, nil })
	if err := b.Delete(t.Context(), p.ID, backend.DeleteOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("got %v for a deleted app, want %v", err, backend.ErrNotFound)
	}
}

// TestListOfLostRights: apps that a user may no longer read keep their recorded state; the others do
// not suffer.
func TestListOfLostRights(t *testing.T) {
	t.Parallel()
	s, other := newSite(t), newSite(t)
	p, hidden := s.plan("pair-1", map[string]any{"gang": "job", "reserved_millicpu": 1000}), other.plan("pair-2", map[string]any{"gang": "job", "reserved_millicpu": 1000})
	if err := errors.Join(s.Submit(t.Context(), p), other.Submit(t.Context(), hidden)); err != nil {
		t.Fatal(err)
	}
	gone, denied := s.namespace+":gone", s.namespace+":denied"
	b := s.as(s.User(t, s.namespace, `{apiGroups: [batch], resources: [jobs], verbs: [list]}`))
	b.config.Settings = func(_ context.Context, id string) (backend.Config, error) {
		if id == denied {
			return backend.Config{"gang": "volcano"}, nil
		}
		return nil, nil
	}
	got, err := b.DescribeAll(t.Context(), []string{hidden.ID, p.ID, gone, denied})
	if !errors.Is(err, kube.ErrForbidden) || got[p.ID] == nil {
		t.Errorf("got %v, %v, want the status of %s and a missing right", got, err, p.ID)
	}
	for id, want := range map[string]bool{p.ID: true, gone: true, hidden.ID: false, denied: false} {
		if _, isRead := got[id]; isRead != want {
			t.Errorf("%s: got read %v, want %v", id, isRead, want)
		}
	}
	for _, err := range []error{second(b.Describe(t.Context(), hidden.ID)), second(b.Wait(t.Context(), hidden.ID))} {
		if !errors.Is(err, backend.ErrUnavailable) || !errors.Is(err, kube.ErrForbidden) {
			t.Errorf("got %v, want a missing right, for which a recorded result stands in", err)
		}
	}
	if apps, err := s.as(s.User(t, other.namespace, "")).List(t.Context()); err != nil || len(apps) != 0 {
		t.Errorf("got %v, %v without rights, want no apps", apps, err)
	}
}

func second[T any](_ T, err error) error { return err }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
