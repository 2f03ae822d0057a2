package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Exit codes, as in a shell.
const (
	codeNotFound  = 127
	codeCancelled = 130
	codeKilled    = 137
)

func success(s *suite) {
	before := time.Now().Add(-time.Second) // times of a cluster are rounded to seconds
	id, st := s.run(s.one(s.Programs.Echo("x")))
	h, err := spec.ParseHandle(st.Handle)
	if err != nil || h != (spec.Handle{Backend: s.Backend.Name(), Session: spec.Session, AppID: id}) {
		s.Errorf("got handle %q (%v) of app %s", st.Handle, err, id)
	}
	if st.State != spec.Succeeded || st.ExitCode == nil || *st.ExitCode != 0 ||
		st.FirstFailure != nil || st.NumRestarts > 0 {
		s.Errorf("status %+v", st)
	}
	s.checkTimes(before, st.SubmittedAt, st.StartedAt, st.FinishedAt)
	if len(st.Roles) != 1 || st.Roles[0].Role != "r" || len(st.Roles[0].Replicas) != 1 {
		s.Fatalf("roles %+v", st.Roles)
	}
	r := st.Roles[0].Replicas[0]
	if r.Role != "r" || r.ID != 0 || r.Attempt != 0 || r.State != spec.Succeeded ||
		r.ExitCode == nil || *r.ExitCode != 0 || r.Signal != "" {
		s.Errorf("replica %+v", r)
	}
	s.checkTimes(before, r.StartedAt, r.FinishedAt)
	s.waitListed(id, spec.Succeeded)
}

// checkTimes checks that all times are set and never decrease.
func (s *suite) checkTimes(before time.Time, times ...*time.Time) {
	s.Helper()
	for i, t := range times {
		if t == nil || t.Before(before) || t.After(time.Now().Add(time.Second)) {
			s.Errorf("time %d: got %v, want %v or later", i, t, before)
			return
		}
		before = *t
	}
}

// waitListed waits until List returns the app once, in a state. It reads less than
// Describe, so it may lag behind on a cluster.
func (s *suite) waitListed(id string, want spec.State) {
	s.Helper()
	s.waitFor(fmt.Sprintf("%s is listed once as %v", id, want), func() bool {
		all, err := s.Backend.List(s.ctx)
		if err != nil {
			s.Fatal(err)
		}
		found := slices.DeleteFunc(all, func(a history.View) bool { return a.ID != id })
		if len(found) != 1 || found[0].Name != "" && found[0].Name != "conformance" {
			s.Fatalf("got list entries %+v, want one app named conformance", found)
		}
		return found[0].State == want
	})
}

func runningApp(s *suite) {
	id := s.start(s.one(s.Programs.Sleep(long)))
	s.waitRunning(id)
	st := s.describe(id)
	if st.ExitCode != nil || st.FinishedAt != nil || st.FirstFailure != nil {
		s.Errorf("status %+v", st)
	}
	if r := st.Replica(spec.Replica{Role: "r"}); r == nil || r.State != spec.Running ||
		r.ExitCode != nil || r.FinishedAt != nil {
		s.Errorf("replica %+v", r)
	}
	s.waitListed(id, spec.Running)
}

func severalReplicas(s *suite) {
	id, st := s.run(s.role("a", 2)(s.Programs.Echo("a ${replica_id}")),
		s.role("b", 3)(s.Programs.Echo("b ${replica_id} ${app_id}")))
	if st.State != spec.Succeeded || len(st.Roles) != 2 {
		s.Fatalf("status %+v", st)
	}
	for i, role := range []struct {
		name string
		n    int
	}{{"a", 2}, {"b", 3}} {
		if got := st.Roles[i]; got.Role != role.name || len(got.Replicas) != role.n {
			s.Errorf("role %d: got %+v, want %s with %d replicas", i, got, role.name, role.n)
		}
		for n := range role.n {
			if r := st.Roles[i].Replicas[n]; r.ID != n || r.Role != role.name {
				s.Errorf("replica %d of role %s is %+v", n, role.name, r)
			}
			want := fmt.Sprintf("%s %d", role.name, n)
			got := texts(s.readReplica(id, spec.Replica{Role: role.name, ID: n}, everything()), backend.Combined)
			if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "\n") {
				s.Errorf("log of %s/%d: got %q, want %q", role.name, n, got, want)
			}
		}
	}
}

func environment(s *suite) {
	r := s.one(s.Programs.Env("CONFORMANCE"))
	r.Env = spec.Map[string]{{Key: "CONFORMANCE", Value: "a=b ${replica_id} 'q\" é"}}
	id, _ := s.run(r)
	s.wantLog(id, "a=b 0 'q\" é\n")
}

func exitCode(code int) func(s *suite) {
	return func(s *suite) {
		id, st := s.run(s.one(s.Programs.Exit(code)))
		s.checkFailed(st, spec.Replica{Role: "r"}, code)
		s.waitListed(id, spec.Failed)
	}
}

// checkFailed checks the status of an app whose replica r failed first.
func (s *suite) checkFailed(st *spec.Status, r spec.Replica, code int) {
	s.Helper()
	if st.State != spec.Failed || st.ExitCode == nil || *st.ExitCode != code {
		s.Errorf("app is %v with code %v, want FAILED with %d", st.State, number(st.ExitCode), code)
	}
	if f := st.FirstFailure; f == nil || f.Role != r.Role || f.ID != r.ID ||
		f.State != spec.Failed || f.ExitCode == nil || *f.ExitCode != code {
		s.Errorf("first failure %+v, want %+v with code %d", f, r, code)
	}
	if got := st.Replica(r); got == nil || got.State != spec.Failed || got.ExitCode == nil ||
		*got.ExitCode != code || got.FinishedAt == nil {
		s.Errorf("replica %+v, want FAILED with code %d", got, code)
	}
}

func number(n *int) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func killed(s *suite) {
	_, st := s.run(s.one(s.Programs.Die()))
	s.checkFailed(st, spec.Replica{Role: "r"}, codeKilled)
	if st.FirstFailure != nil && st.FirstFailure.Signal != "SIGKILL" {
		s.Errorf("signal %q, want SIGKILL", st.FirstFailure.Signal)
	}
}

func failFast(s *suite) {
	_, st := s.run(s.role("a", 2)(s.Programs.Sleep(long)), s.role("b", 1)(s.Programs.Exit(7)))
	s.checkFailed(st, spec.Replica{Role: "b"}, 7)
	for n := range 2 {
		if r := st.Replica(spec.Replica{Role: "a", ID: n}); r == nil || r.State != spec.Cancelled {
			s.Errorf("replica a/%d is %+v, want CANCELLED", n, r)
		}
	}
}

func retries(s *suite) {
	r := s.one(s.Programs.Exit(4))
	r.MaxRetries, r.RetryPolicy = 2, spec.RetryReplica
	_, st := s.run(r)
	s.checkFailed(st, spec.Replica{Role: "r"}, 4)
	if got := st.Replica(spec.Replica{Role: "r"}); got == nil || got.Attempt != 2 ||
		st.NumRestarts != 2 {
		s.Errorf("%d restarts, replica %+v, want 2 restarts", st.NumRestarts, got)
	}
}

func notFound(s *suite) {
	p := s.plan(s.one("no-such-program-anywhere", nil))
	s.endAfter(p.ID)
	err := s.Backend.Submit(s.ctx, p)
	var start *backend.StartError
	if !errors.As(err, &start) || start.Code != codeNotFound || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "no-such-program-anywhere") {
		s.Fatalf("error %v (%+v), want a *StartError with code %d", err, start, codeNotFound)
	}
	st, err := s.Backend.Describe(s.ctx, p.ID)
	if err == nil && (st.State != spec.Failed || st.ExitCode == nil || *st.ExitCode != codeNotFound) {
		s.Errorf("status %+v, want FAILED with %d", st, codeNotFound)
	}
	if err != nil && !errors.Is(err, backend.ErrNotFound) {
		s.Errorf("describe: %v", err)
	}
}

func submitTwice(s *suite) {
	p := s.plan(s.one(s.Programs.IgnoreTerm()))
	s.submit(p)
	s.waitReady(p.ID)
	s.wantError("second submit", s.Backend.Submit(s.ctx, p), backend.ErrExists)
	s.waitRunning(p.ID)
	s.cancel(p.ID, backend.CancelOptions{Force: true})
	s.wait(p.ID)
	s.wantError("submit after the end", s.Backend.Submit(s.ctx, p), backend.ErrExists)
	s.mayBeCut = !s.Caps.CompleteLogs
	s.wantLog(p.ID, "ready\n")
}

func unknownApp(s *suite) {
	id := s.plan(s.one(s.Programs.Echo("x"))).ID
	_, err := s.Backend.Describe(s.ctx, id)
	s.wantError("describe", err, backend.ErrNotFound)
	_, err = s.Backend.Logs(s.ctx, id, spec.Replica{Role: "r"}, everything())
	s.wantError("logs", err, backend.ErrNotFound)
	s.wantError("delete", s.Backend.Delete(s.ctx, id, backend.DeleteOptions{}), backend.ErrNotFound)
	_, err = s.Backend.Wait(s.ctx, id)
	s.wantError("wait", err, backend.ErrNotFound)
	if err := s.Backend.Cancel(s.ctx, id, backend.CancelOptions{}); err != nil {
		s.Errorf("cancel: got %v, want no error", err)
	}
}

func unknownReplica(s *suite) {
	id, _ := s.run(s.role("r", 2)(s.Programs.Echo("x")))
	for _, r := range []spec.Replica{{Role: "none"}, {Role: ""}, {Role: "R"}, {Role: "r", ID: 2}, {Role: "r", ID: -1}} {
		_, err := s.Backend.Logs(s.ctx, id, r, everything())
		s.wantError(fmt.Sprintf("logs of %+v", r), err, backend.ErrNotFound)
	}
	for _, attempt := range []int{1, -1} {
		o := everything()
		o.Attempt = &attempt
		_, err := s.Backend.Logs(s.ctx, id, spec.Replica{Role: "r"}, o)
		s.wantError(fmt.Sprintf("logs of attempt %d", attempt), err, backend.ErrNotFound)
	}
}

func deleteApp(s *suite) {
	id, _ := s.run(s.one(s.Programs.Echo("x")))
	other, _ := s.run(s.one(s.Programs.Echo("y")))
	if err := s.Backend.Delete(s.ctx, id, backend.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	_, err := s.Backend.Describe(s.ctx, id)
	s.wantError("describe", err, backend.ErrNotFound)
	_, err = s.Backend.Logs(s.ctx, id, spec.Replica{Role: "r"}, everything())
	s.wantError("logs", err, backend.ErrNotFound)
	s.wantError("second delete", s.Backend.Delete(s.ctx, id, backend.DeleteOptions{}),
		backend.ErrNotFound)
	all, err := s.Backend.List(s.ctx)
	if err != nil || slices.ContainsFunc(all, func(a history.View) bool { return a.ID == id }) {
		s.Errorf("list %+v, %v", all, err)
	}
	s.wantLog(other, "y\n")
}

func waitTwice(s *suite) {
	id := s.start(s.one(s.Programs.Sleep(200 * time.Millisecond)))
	s.wantEnd(id, spec.Succeeded)
	s.wantEnd(id, spec.Succeeded)
}

func waitCancelled(s *suite) {
	id := s.start(s.one(s.Programs.Sleep(long)))
	ctx, cancel := context.WithTimeout(s.ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := s.Backend.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("wait: %v, want the context's error", err)
	}
	s.waitRunning(id)
}
