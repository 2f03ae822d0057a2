package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local_cwd", "echo")
	s, err := w.Status(t.Context(), ref)
	if err != nil || s.State != spec.Running || s.Handle != ref.Handle() || s.SubmittedAt == nil || len(s.Roles) != 1 {
		t.Fatalf("got %+v, %v, want RUNNING", s, err)
	}
	w.local.finish(ref.ID, spec.Failed, 7)
	if s, err = w.Status(t.Context(), ref); err != nil || s.State != spec.Failed {
		t.Fatalf("got %+v, %v, want FAILED", s, err)
	}
	if a := w.rowOf(t, ref); a.State != spec.Failed || *a.ExitCode != 7 {
		t.Errorf("history: got %v, want FAILED with exit code 7", a.State)
	}
	w.local.remove(ref.ID)
	if s, err = w.Status(t.Context(), ref); err != nil || s.State != spec.Failed || *s.ExitCode != 7 || s.Handle != ref.Handle() || len(s.Roles) != 1 {
		t.Errorf("after the backend lost it: got %+v, %v, want the recorded status", s, err)
	}
}

// TestStatusWithoutReplicas: an app whose replicas its backend has lost keeps its recorded result.
func TestStatusWithoutReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local_cwd", "echo")
	w.local.finish(ref.ID, spec.Succeeded, 0)
	seen, err := w.Status(t.Context(), ref)
	if err != nil || seen.State != spec.Succeeded {
		t.Fatalf("got %+v, %v, want SUCCEEDED", seen, err)
	}
	lost, began := *seen, time.Now()
	seen.Roles[0].Replicas[0].State, seen.Roles[0].Replicas[0].StartedAt = spec.Succeeded, &began
	w.local.set(ref.ID, seen)
	if _, err := w.Status(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	lost.State, lost.ExitCode = spec.Failed, new(1)
	lost.Roles = []spec.RoleStatus{{Role: seen.Roles[0].Role, Replicas: []spec.ReplicaStatus{{Role: seen.Roles[0].Role, State: spec.Cancelled}}}}
	w.local.set(ref.ID, &lost)
	if s, err := w.Status(t.Context(), ref); err != nil || s.State != spec.Succeeded {
		t.Errorf("got %+v, %v, want the recorded SUCCEEDED", s, err)
	}
}

func TestStatusUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := history.AppKey{Backend: "local", ID: "nope"}
	_, err := w.Status(t.Context(), ref)
	if want := "app local://torchx/nope does not exist or was deleted: see `torchx list`"; err == nil || err.Error() != want || !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := w.Describe(t.Context(), ref); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("describe: got %v, want not found", err)
	}
	if err := w.Delete(t.Context(), ref, DeleteOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("delete: got %v, want not found", err)
	}
	if err := w.Cancel(t.Context(), ref, backend.CancelOptions{}); err != nil {
		t.Errorf("cancel: got %v, want nil", err)
	}
	if _, err := w.Wait(t.Context(), ref); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("wait: got %v, want not found", err)
	}
	w.local.describe = func(string) error { return fmt.Errorf("engine is off: %w", backend.ErrUnavailable) }
	if _, err := w.Status(t.Context(), ref); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("unavailable backend: got %v, want unavailable", err)
	}
}

// crashed records an app whose submission was interrupted before it reached its backend.
func (w *world) crashed(t *testing.T) history.AppKey {
	t.Helper()
	p := w.plan(t)
	if _, _, err := w.record(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	return p.Ref()
}

func TestStatusOfInterruptedSubmit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.crashed(t)
	if s, err := w.Status(t.Context(), ref); err != nil || s.State != spec.Submitted {
		t.Fatalf("while the submitter lives: got %+v, %v, want SUBMITTED", s, err)
	}
	err := w.Delete(t.Context(), ref, DeleteOptions{Force: true})
	if err == nil || !strings.Contains(err.Error(), "just being submitted") {
		t.Errorf("delete: got %v, want that the app is being submitted", err)
	}
	w.submittersDead = true
	s, err := w.Status(t.Context(), ref)
	if err != nil || s.State != spec.Failed || *s.ExitCode != 125 || s.Msg != "torchx ended before the app was started" || s.FinishedAt == nil {
		t.Fatalf("got %+v, %v, want FAILED with exit code 125", s, err)
	}
	if a := w.rowOf(t, ref); a.State != spec.Failed || *a.ExitCode != 125 {
		t.Errorf("history: got %v, want FAILED with exit code 125", a)
	}
	if err := w.Delete(t.Context(), ref, DeleteOptions{}); err != nil {
		t.Errorf("delete: got %v, want nil", err)
	}
}

// TestStatusOfLateStart: the app started, and its submitter ended, right after the backend
// was asked.
func TestStatusOfLateStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.crashed(t)
	w.Alive = func(string) bool {
		w.local.set(ref.ID, &spec.Status{State: spec.Running})
		return false
	}
	if s, err := w.Status(t.Context(), ref); err != nil || s.State != spec.Running {
		t.Errorf("got %+v, %v, want RUNNING", s, err)
	}
}

func TestStatusOfVanished(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	if _, err := w.Status(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	w.local.remove(ref.ID)
	s, err := w.Wait(t.Context(), ref)
	if err != nil || s.State != spec.Failed || *s.ExitCode != 125 || !strings.Contains(s.Msg, "was RUNNING when last seen") {
		t.Fatalf("got %+v, %v, want FAILED with exit code 125", s, err)
	}
	if r := s.Roles[0].Replicas[0]; r.State != spec.Unknown {
		t.Errorf("replica: got %v, want UNKNOWN", r.State)
	}
}

// A recorded result stays when the backend has lost a part of it.
func TestStatusOfForgottenEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	code, one, at := 7, 1, time.Now().UTC()
	failed := spec.ReplicaStatus{Role: "echo", State: spec.Failed, ExitCode: &code, StartedAt: &at, FinishedAt: &at, Msg: "evicted"}
	whole := &spec.Status{State: spec.Failed, ExitCode: &code, Msg: "replica echo/0 failed first: evicted", FirstFailure: &failed, Roles: []spec.RoleStatus{{Role: "echo", Replicas: []spec.ReplicaStatus{failed}}}}
	w.local.set(ref.ID, whole)
	if _, err := w.Wait(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	w.local.set(ref.ID, &spec.Status{State: spec.Failed, ExitCode: &one, Roles: []spec.RoleStatus{{Role: "echo", Replicas: []spec.ReplicaStatus{{Role: "echo", State: spec.Cancelled}}}}})
	for range 2 {
		s, err := w.Status(t.Context(), ref)
		if err != nil || *s.ExitCode != code || s.Msg != whole.Msg || s.FirstFailure == nil {
			t.Fatalf("got %+v, %v, want the recorded result", s, err)
		}
		if r := s.Roles[0].Replicas[0]; r.State != spec.Failed || r.ExitCode == nil || *r.ExitCode != code {
			t.Errorf("got %+v, want FAILED with exit code 7", r)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	d, err := w.Describe(t.Context(), ref)
	if err != nil || d.Partial || d.Component != "utils.echo" || len(d.Args) != 2 || !strings.Contains(string(d.Cfg), "image_type") || !strings.Contains(string(d.Spec), `"entrypoint":"echo"`) {
		t.Errorf("got %+v, %v, want the submitted app", d, err)
	}
	w.local.set("other", &spec.Status{State: spec.Running})
	if d, err = w.Describe(t.Context(), history.AppKey{Backend: "local", ID: "other"}); err != nil || !d.Partial || d.Component != "" {
		t.Errorf("got %+v, %v, want a partial description", d, err)
	}
}

// keeping is a fake that resolves targets and keeps submissions.
type keeping struct{ *fake }

func (k keeping) Capabilities() backend.Capabilities {
	return backend.Capabilities{Placement: backend.Placement{Target: k}, Reports: backend.Reports{Submissions: k}}
}

func (k keeping) ResolveTarget(cfg backend.Config) (backend.Config, error) {
	if cfg["image_type"] == "dir" {
		return nil, backend.Errorf(backend.ErrUnavailable, "no such target")
	}
	return backend.Config{"log_dir": "/here"}, nil
}

func (k keeping) Submission(ctx context.Context, id string) (*backend.Submission, error) {
	if _, err := k.Describe(ctx, id); err != nil {
		return nil, err
	}
	return &backend.Submission{App: echo(3), Cfg: backend.Config{"log_dir": "/here"}, Component: "utils.echo", Args: []string{"x"}, Partial: id == "partial"}, nil
}

// The history records where an app runs, even if the target was a default; without the
// history, the backend knows what was submitted.
func TestTargetAndSubmission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Backends.Add("far", func() (backend.Backend, error) { return keeping{w.other}, nil })
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "far", App: echo(1), Provenance: Provenance{Source: history.Source{Component: "utils.echo", Args: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	w.other.submit = func(plan *backend.Plan) error {
		if plan.Component != "utils.echo" || len(plan.Args) != 1 {
			t.Errorf("got plan %+v, want component and arguments", plan)
		}
		w.other.set(plan.ID, &spec.Status{State: spec.Running})
		return nil
	}
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if row := w.rowOf(t, p.Ref()); string(row.Cfg) != `{"log_dir":"/here"}` {
		t.Errorf("got recorded options %s, want the resolved target", row.Cfg)
	}
	for _, id := range []string{"partial", "whole"} {
		w.other.set(id, &spec.Status{State: spec.Running})
		d, err := w.Describe(t.Context(), history.AppKey{Backend: "far", ID: id})
		if err != nil || d.Partial != (id == "partial") || d.Component != "utils.echo" || len(d.Args) != 1 ||
			string(d.Cfg) != `{"log_dir":"/here"}` || !strings.Contains(string(d.Spec), `"num_replicas":3`) {
			t.Errorf("%s: got %+v, %v, want the submission", id, d, err)
		}
	}
	if _, err := w.Describe(t.Context(), history.AppKey{Backend: "far", ID: "nope"}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("an unknown app: got %v, want not found", err)
	}
	layer, err := backend.CfgLayer("image_type=dir")
	if err != nil {
		t.Fatal(err)
	}
	nowhere, err := w.Plan(t.Context(), PlanRequest{Backend: "far", App: echo(1), Cfg: []backend.Layer{layer}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Submit(t.Context(), nowhere); !errors.Is(err, backend.ErrUnavailable) || w.row(t.Context(), nowhere.Ref()) != nil {
		t.Errorf("got %v, row %v, want unavailable and no row", err, w.row(t.Context(), nowhere.Ref()))
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	var queries atomic.Int32
	w.local.describe = func(string) error {
		if queries.Add(1) == 3 {
			go w.local.finish(ref.ID, spec.Succeeded, 0)
		}
		return nil
	}
	s, err := w.Wait(t.Context(), ref)
	if err != nil || s.State != spec.Succeeded || queries.Load() < 3 {
		t.Fatalf("got %+v, %v after %d queries, want SUCCEEDED", s, err, queries.Load())
	}
	if a := w.rowOf(t, ref); a.State != spec.Succeeded {
		t.Errorf("history: got %v, want SUCCEEDED", a.State)
	}
}

// TestEndedAndUnavailable: the recorded result of an app does not need its backend.
func TestEndedAndUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref, live := w.run(t, "local", "echo"), w.run(t, "local", "live")
	w.local.finish(ref.ID, spec.Failed, 7)
	if _, err := w.Status(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	w.local.describe = func(string) error { return fmt.Errorf("engine is off: %w", backend.ErrUnavailable) }
	for name, get := range map[string]func(context.Context, history.AppKey) (*spec.Status, error){"status": w.Status, "wait": w.Wait} {
		s, err := get(t.Context(), ref)
		if err != nil || s.State != spec.Failed || *s.ExitCode != 7 || s.Handle != ref.Handle() {
			t.Errorf("%s: got %+v, %v, want the recorded result", name, s, err)
		}
		if _, err := get(t.Context(), live); !errors.Is(err, backend.ErrUnavailable) {
			t.Errorf("%s of a live app: got %v, want unavailable", name, err)
		}
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := w.Wait(ctx, ref); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want deadline exceeded", err)
	}
}

func TestCancelAndDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	for range 2 {
		if err := w.Cancel(t.Context(), ref, backend.CancelOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.local.cancelled) != 1 {
		t.Errorf("got cancels of %v, want one", w.local.cancelled)
	}
	live := w.run(t, "local", "live")
	if err := w.Delete(t.Context(), live, DeleteOptions{}); err == nil || len(w.local.deleted) > 0 || len(w.local.cancelled) != 1 {
		t.Errorf("delete of a live app: got %v, cancelled %v, deleted %v, want an error and nothing ended", err, w.local.cancelled, w.local.deleted)
	}
	for _, f := range []history.AppKey{ref, live} {
		if err := w.Delete(t.Context(), f, DeleteOptions{Force: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Status(t.Context(), f); !errors.Is(err, backend.ErrNotFound) {
			t.Errorf("a deleted app: got %v, want not found", err)
		}
	}
	if len(w.local.cancelled) != 2 || len(w.local.deleted) != 2 {
		t.Errorf("got cancels of %v, deletions of %v, want two of each", w.local.cancelled, w.local.deleted)
	}
}
