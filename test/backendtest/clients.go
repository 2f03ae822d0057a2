package backendtest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func closeTwice(s *suite) {
	client := s.Backend
	if s.Reopen != nil {
		client = s.Reopen(s.T) // the harness may still need its own client
	}
	s.close(client)
	s.close(client)
}

func outlive(s *suite) {
	if s.Reopen == nil {
		return
	}
	client := s.Reopen(s.T)
	p := s.plan(s.one(s.Programs.IgnoreTerm()))
	s.endAfter(p.ID)
	if err := client.Submit(s.ctx, p); err != nil {
		s.Fatal(err)
	}
	s.close(client)
	s.close(client)
	s.waitReady(p.ID)
	if st := s.describe(p.ID); st.State != spec.Running {
		s.Errorf("after its client was closed: got %v: %s, want RUNNING", st.State, st.Msg)
	}
	s.cancel(p.ID, backend.CancelOptions{Force: true})
	s.wantEnd(p.ID, spec.Cancelled)
}

func anotherClient(s *suite) {
	if s.Reopen == nil {
		return
	}
	id, want := s.run(s.one(s.Programs.Echo("seen")))
	s.Backend = s.Reopen(s.T)
	got := s.describe(id)
	if got.State != want.State || *got.ExitCode != *want.ExitCode ||
		!got.FinishedAt.Equal(*want.FinishedAt) || got.Handle != want.Handle {
		s.Errorf("status %+v, want %+v", got, want)
	}
	s.waitListed(id, spec.Succeeded)
	s.wantLog(id, "seen\n")
	in := s.input(s.one(s.Programs.Echo("again")))
	in.ID = id
	if p := s.planInput(in); p.ID == id {
		s.wantError("submit of the same ID", s.Backend.Submit(s.ctx, p), backend.ErrExists)
	}
}

func concurrentApps(s *suite) {
	const count = 8
	plans := make([]*backend.Plan, count)
	for i := range plans {
		plans[i] = s.plan(s.one(s.Programs.Echo(fmt.Sprint("app ", i))))
		s.endAfter(plans[i].ID)
	}
	var all sync.WaitGroup
	for _, p := range plans {
		all.Go(func() {
			if err := s.Backend.Submit(s.ctx, p); err != nil {
				s.Errorf("submit %s: %v", p.ID, err)
			}
		})
	}
	all.Wait()
	for i, p := range plans {
		s.wantEnd(p.ID, spec.Succeeded)
		s.wantLog(p.ID, fmt.Sprintf("app %d\n", i))
	}
}

func concurrentSubmits(s *suite) {
	p := s.plan(s.one(s.Programs.Echo("once")))
	s.endAfter(p.ID)
	var all sync.WaitGroup
	var won atomic.Int32
	for range 4 {
		all.Go(func() {
			err := s.Backend.Submit(s.ctx, p)
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, backend.ErrExists) {
				s.Errorf("submit: %v", err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		s.Fatalf("got %d successful submits of one ID, want 1", won.Load())
	}
	s.wait(p.ID)
	s.wantLog(p.ID, "once\n")
}

// capabilities: a capability is there or nil, and always the same.
func capabilities(s *suite) {
	can := s.Backend.Capabilities()
	if again := s.Backend.Capabilities(); !reflect.DeepEqual(can, again) {
		s.Errorf("got capabilities %+v, then %+v", can, again)
	}
	for _, field := range reflect.VisibleFields(reflect.TypeOf(can)) {
		v := reflect.ValueOf(can).FieldByIndex(field.Index)
		if v.Kind() == reflect.Interface && !v.IsNil() &&
			v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() {
			s.Errorf("capability %s is a nil pointer", field.Name)
		}
	}
}

func options(s *suite) {
	if err := backend.CheckOptions(s.Backend.Options()); err != nil {
		s.Error(err)
	}
	for _, o := range s.Backend.Options() {
		if o.Help == "" || strings.Contains(o.Help, "\n") {
			s.Errorf("option %s: got help %q, want one line", o.Key, o.Help)
		}
	}
	if name := s.Backend.Name(); name == "" || name != strings.ToLower(name) {
		s.Errorf("got name %q, want lower case", name)
	}
}

func oddIDs(s *suite) {
	names := []string{
		" ", "a b", "é世界", "a.b", ".", "..", "...", ".hidden", "-dash", "--force", "~", "*", "a%2Fb", `a\b`, `q"uo'te`, "$HOME",
		"a", "A", "CON", "x.json", strings.Repeat("long", 60), strings.Repeat("x", 999) + "1", strings.Repeat("x", 999) + "2",
	}
	for i, id := range names {
		in := s.input(s.one(s.Programs.Echo(fmt.Sprint("app ", i))))
		in.ID = id
		p := s.planInput(in)
		if p.ID != id {
			s.Fatalf("plan of %q: got ID %q", id, p.ID)
		}
		s.submit(p)
	}
	for i, id := range names {
		s.wantEnd(id, spec.Succeeded)
		s.wantLog(id, fmt.Sprintf("app %d\n", i))
		s.waitListed(id, spec.Succeeded)
	}
	for i, id := range names {
		if err := s.Backend.Delete(s.ctx, id, backend.DeleteOptions{}); err != nil {
			s.Errorf("delete %q: %v", id, err)
		}
		if all, err := s.Backend.List(s.ctx); err != nil || len(all) != len(names)-i-1 {
			s.Fatalf("after the delete of %q: got %d apps, want %d (%v)", id, len(all),
				len(names)-i-1, err)
		}
	}
}
