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
		t.Fatalf("%+v, %v", s, err)
	}
	w.local.finish(ref.ID, spec.Failed, 7)
	if s, err = w.Status(t.Context(), ref); err != nil || s.State != spec.Failed {
		t.Fatalf("%+v, %v", s, err)
	}
	if a := w.rowOf(t, ref); a.State != spec.Failed || *a.ExitCode != 7 {
		t.Errorf("the history has %v", a.State)
	}
	w.local.remove(ref.ID)
	if s, err = w.Status(t.Context(), ref); err != nil || s.State != spec.Failed || *s.ExitCode != 7 || s.Handle != ref.Handle() || len(s.Roles) != 1 {
		t.Errorf("remembered: %+v, %v", s, err)
	}
}

func TestStatusUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := history.AppKey{Backend: "local", ID: "nope"}
	_, err := w.Status(t.Context(), ref)
	if want := "app local://torchx/nope does not exist or was deleted: see `torchx list`"; err == nil || err.Error() != want || !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := w.Describe(t.Context(), ref); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("describe: %v", err)
	}
	if err := w.Delete(t.Context(), ref, DeleteOptions{}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("delete: %v", err)
	}
	if err := w.Cancel(t.Context(), ref, backend.CancelOptions{}); err != nil {
		t.Errorf("cancel: %v", err)
	}
	if _, err := w.Wait(t.Context(), ref); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("wait: %v", err)
	}
	w.local.describe = func(string) error { return fmt.Errorf("engine is off: %w", backend.ErrUnavailable) }
	if _, err := w.Status(t.Context(), ref); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("unavailable: %v", err)
	}
}

// crashed records an app that no backend knows.
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
		t.Fatalf("while the submitter lives: %+v, %v", s, err)
	}
	err := w.Delete(t.Context(), ref, DeleteOptions{Force: true})
	if err == nil || !strings.Contains(err.Error(), "just being submitted") {
		t.Errorf("delete: %v", err)
	}
	w.gone = true
	s, err := w.Status(t.Context(), ref)
	if err != nil || s.State != spec.Failed || *s.ExitCode != 125 || s.Msg != "torchx ended before the app was started" || s.FinishedAt == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	if a := w.rowOf(t, ref); a.State != spec.Failed || *a.ExitCode != 125 {
		t.Errorf("the history has %v", a)
	}
	if err := w.Delete(t.Context(), ref, DeleteOptions{}); err != nil {
		t.Errorf("delete: %v", err)
	}
}

// TestStatusOfLateStart: the app came to life, and its submitter went, right
// after the backend was asked.
func TestStatusOfLateStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.crashed(t)
	w.Alive = func(string) bool {
		w.local.set(ref.ID, &spec.Status{State: spec.Running})
		return false
	}
	if s, err := w.Status(t.Context(), ref); err != nil || s.State != spec.Running {
		t.Errorf("%+v, %v", s, err)
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
		t.Fatalf("%+v, %v", s, err)
	}
	if r := s.Roles[0].Replicas[0]; r.State != spec.Unknown {
		t.Errorf("replica is %v", r.State)
	}
}

// What was seen of an end stays when the backend has forgotten a part of it.
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
			t.Fatalf("%+v, %v", s, err)
		}
		if r := s.Roles[0].Replicas[0]; r.State != spec.Failed || r.ExitCode == nil || *r.ExitCode != code {
			t.Errorf("%+v", r)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "echo")
	d, err := w.Describe(t.Context(), ref)
	if err != nil || d.Partial || *d.Component != "utils.echo" || len(d.Args) != 2 || !strings.Contains(string(d.Cfg), "image_type") || !strings.Contains(string(d.App), `"entrypoint":"echo"`) {
		t.Errorf("%+v, %v", d, err)
	}
	w.local.set("other", &spec.Status{State: spec.Running})
	if d, err = w.Describe(t.Context(), history.AppKey{Backend: "local", ID: "other"}); err != nil || !d.Partial || d.Component != nil {
		t.Errorf("%+v, %v", d, err)
	}
}

// keeping is a fake of which there are several places, and that keeps what was submitted.
type keeping struct{ *fake }

func (k keeping) ResolveTarget(cfg backend.Config) (backend.Config, error) {
	if cfg["image_type"] == "dir" {
		return nil, backend.Errorf(backend.ErrUnavailable, "no such place")
	}
	return backend.Config{"log_dir": "/here"}, nil
}

func (k keeping) Submission(ctx context.Context, id string) (*backend.Submission, error) {
	if _, err := k.Describe(ctx, id); err != nil {
		return nil, err
	}
	return &backend.Submission{App: echo(3), Cfg: backend.Config{"log_dir": "/here"}, Component: "utils.echo", Args: []string{"x"}, Partial: id == "partial"}, nil
}

// The history knows where an app is, even if that was nobody's choice, and without it
// the backend knows what was submitted.
func TestPlaceAndSubmitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Backends.Add("far", func() (backend.Backend, error) { return keeping{w.other}, nil })
	p, err := w.Plan(t.Context(), PlanRequest{Backend: "far", App: echo(1), Provenance: Provenance{Source: history.Source{Component: "utils.echo", Args: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	w.other.submit = func(plan *backend.Plan) error {
		if plan.Component != "utils.echo" || len(plan.Args) != 1 {
			t.Errorf("%+v", plan)
		}
		w.other.set(plan.ID, &spec.Status{State: spec.Running})
		return nil
	}
	if _, err := w.Submit(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if row := w.rowOf(t, p.Ref()); string(row.Cfg) != `{"log_dir":"/here"}` {
		t.Errorf("recorded as %s", row.Cfg)
	}
	for _, id := range []string{"partial", "whole"} {
		w.other.set(id, &spec.Status{State: spec.Running})
		d, err := w.Describe(t.Context(), history.AppKey{Backend: "far", ID: id})
		if err != nil || d.Partial != (id == "partial") || *d.Component != "utils.echo" || len(d.Args) != 1 ||
			string(d.Cfg) != `{"log_dir":"/here"}` || !strings.Contains(string(d.App), `"num_replicas":3`) {
			t.Errorf("%s: %+v, %v", id, d, err)
		}
	}
	if _, err := w.Describe(t.Context(), history.AppKey{Backend: "far", ID: "nope"}); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("an unknown app: %v", err)
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
		t.Errorf("%v, row %v", err, w.row(t.Context(), nowhere.Ref()))
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	for _, backendName := range []string{"local", "docker"} { // by looking, and by a Waiter
		t.Run(backendName, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			f := map[string]*fake{"local": w.local, "docker": w.other}[backendName]
			ref := w.run(t, backendName, "echo")
			var looks atomic.Int32
			f.describe = func(string) error {
				if looks.Add(1) == 3 {
					go f.finish(ref.ID, spec.Succeeded, 0)
				}
				return nil
			}
			s, err := w.Wait(t.Context(), ref)
			if err != nil || s.State != spec.Succeeded || looks.Load() < 3 {
				t.Fatalf("%+v, %v", s, err)
			}
			if a := w.rowOf(t, ref); a.State != spec.Succeeded {
				t.Errorf("the history has %v", a.State)
			}
		})
	}
}

// TestEndedAndUnavailable: how an app ended is on record, and needs nobody else.
func TestEndedAndUnavailable(t *testing.T) {
	t.Parallel()
	for _, backendName := range []string{"local", "docker"} { // by looking, and by a Waiter
		w := newWorld(t)
		f := map[string]*fake{"local": w.local, "docker": w.other}[backendName]
		ref, live := w.run(t, backendName, "echo"), w.run(t, backendName, "live")
		f.finish(ref.ID, spec.Failed, 7)
		if _, err := w.Status(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		f.describe = func(string) error { return fmt.Errorf("engine is off: %w", backend.ErrUnavailable) }
		for name, look := range map[string]func(context.Context, history.AppKey) (*spec.Status, error){"status": w.Status, "wait": w.Wait} {
			s, err := look(t.Context(), ref)
			if err != nil || s.State != spec.Failed || *s.ExitCode != 7 || s.Handle != ref.Handle() {
				t.Errorf("%s on %s: %+v, %v", name, backendName, s, err)
			}
			if _, err := look(t.Context(), live); !errors.Is(err, backend.ErrUnavailable) {
				t.Errorf("%s of a live app on %s: %v", name, backendName, err)
			}
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
		t.Errorf("got %v", err)
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
		t.Errorf("cancelled %v", w.local.cancelled)
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
			t.Errorf("deleted: %v", err)
		}
	}
	if len(w.local.cancelled) != 2 || len(w.local.deleted) != 2 {
		t.Errorf("cancelled %v, deleted %v", w.local.cancelled, w.local.deleted)
	}
}
