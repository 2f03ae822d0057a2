package backendtest

import (
	"cmp"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// forceTimeout is less than the grace period of backends on this machine.
const forceTimeout = 8 * time.Second

func cancelEnds(s *suite) {
	id := s.start(s.role("a", 1)(s.Programs.Sleep(long)), s.role("b", 2)(s.Programs.Sleep(long)))
	s.waitRunning(id)
	s.cancel(id, backend.CancelOptions{})
	st := s.wait(id)
	if st.State != spec.Cancelled || st.ExitCode == nil || *st.ExitCode != codeCancelled ||
		st.FinishedAt == nil || st.FirstFailure != nil {
		s.Errorf("app is %v with code %s, first failure %+v, want CANCELLED with %d", st.State,
			number(st.ExitCode), st.FirstFailure, codeCancelled)
	}
	for _, r := range []spec.Replica{{Role: "a"}, {Role: "b"}, {Role: "b", ID: 1}} {
		if got := st.Replica(r); got == nil || got.State != spec.Cancelled {
			s.Errorf("replica %+v is %+v, want CANCELLED", r, got)
		}
	}
	s.waitListed(id, spec.Cancelled)
}

func cancelDoesNotBlock(s *suite) {
	id := s.start(s.one(s.Programs.IgnoreTerm()))
	s.waitReady(id)
	before := time.Now()
	s.cancel(id, backend.CancelOptions{})
	if took := time.Since(before); took > 5*time.Second {
		s.Errorf("cancel took %v", took)
	}
	if st := s.describe(id); st.State.Terminal() {
		s.Errorf("cancel returned after the end of the app, which is %v", st.State)
	}
	s.cancel(id, backend.CancelOptions{Force: true})
	s.wantEnd(id, spec.Cancelled)
}

func cancelForce(s *suite) {
	id := s.start(s.one(s.Programs.IgnoreTerm()))
	s.waitReady(id)
	before := time.Now()
	s.cancel(id, backend.CancelOptions{Force: true})
	st := s.wait(id)
	if st.State != spec.Cancelled || st.ExitCode == nil || *st.ExitCode != codeCancelled {
		s.Errorf("app is %v with code %s, want CANCELLED with %d", st.State,
			number(st.ExitCode), codeCancelled)
	}
	if took := time.Since(before); took > cmp.Or(s.ForceTimeout, forceTimeout) {
		s.Errorf("the forced end took %v, want less than the grace period", took)
	}
}

func cancelFinished(s *suite) {
	for _, code := range []int{0, 5} {
		id, before := s.run(s.one(s.Programs.Exit(code)))
		for _, force := range []bool{false, true} {
			s.cancel(id, backend.CancelOptions{Force: force})
		}
		after := s.describe(id)
		if after.State != before.State || *after.ExitCode != code {
			s.Errorf("app was %v, got %v with code %s after a cancel", before.State, after.State,
				number(after.ExitCode))
		}
	}
}

func cancelTwice(s *suite) {
	id := s.start(s.one(s.Programs.Sleep(long)))
	s.waitRunning(id)
	s.cancel(id, backend.CancelOptions{})
	s.cancel(id, backend.CancelOptions{})
	s.wantEnd(id, spec.Cancelled)
	s.cancel(id, backend.CancelOptions{})
	if st := s.describe(id); st.State != spec.Cancelled {
		s.Errorf("after another cancel: got %v, want CANCELLED", st.State)
	}
}
