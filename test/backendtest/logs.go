package backendtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func emptyLog(s *suite) {
	id, _ := s.run(s.one(s.Programs.Exit(0)))
	if lines := s.read(id, everything()); len(lines) != 0 {
		s.Errorf("got log %v, want none", lines)
	}
}

func readTwice(s *suite) {
	id, _ := s.run(s.one(s.Programs.Lines(20, 0)))
	one, two := s.read(id, everything()), s.read(id, everything())
	if !reflect.DeepEqual(one, two) || len(one) != 20 {
		s.Errorf("got %v, then %v, want the same 20 lines", one, two)
	}
}

func twoReaders(s *suite) {
	id, _ := s.run(s.one(s.Programs.Lines(20, 0)))
	a, b := s.open(id, spec.Replica{Role: "r"}, everything()), s.open(id,
		spec.Replica{Role: "r"}, everything())
	first, err := s.next(a)
	if err != nil {
		s.Fatal(err)
	}
	fromA, fromB := first, s.readAll(b)
	s.close(b)
	fromA = append(fromA, s.readAll(a)...)
	s.close(a)
	if !reflect.DeepEqual(fromA, fromB) || len(fromA) != 20 {
		s.Errorf("one reader got %v\nthe other %v", fromA, fromB)
	}
}

// readAll reads to the end, and checks that reading again returns the end, too.
func (s *suite) readAll(reader backend.LogReader) []line {
	s.Helper()
	var lines []line
	for {
		more, err := s.next(reader)
		if errors.Is(err, io.EOF) {
			if _, err := reader.Next(s.ctx); !errors.Is(err, io.EOF) {
				s.Errorf("after the end: got %v, want EOF", err)
			}
			return lines
		}
		if err != nil {
			s.Fatal(err)
		}
		lines = append(lines, more...)
	}
}

func noNewline(s *suite) {
	id, _ := s.run(s.one(s.Programs.Print("one\n\ntwo, no end")))
	for _, follow := range []bool{false, true} {
		o := everything()
		o.Follow = follow
		if got := texts(s.read(id, o), backend.Combined); got != "one\n\ntwo, no end" {
			s.Errorf("follow %v: got log %q", follow, got)
		}
	}
}

func manyLines(s *suite) {
	const count = 3000
	id, _ := s.run(s.one(s.Programs.Lines(count, 0)))
	s.checkLines(s.read(id, everything()), count)
}

// checkLines checks that lines are those of Programs.Lines, in order per stream.
func (s *suite) checkLines(lines []line, count int) {
	s.Helper()
	if len(lines) != count {
		s.Errorf("got %d lines, want %d", len(lines), count)
	}
	if !s.Caps.Streams {
		if got := texts(lines, backend.Combined); len(got) != len(numberedText(count, 1, 1)) {
			s.Errorf("got log %q, want lines 1 to %d", got, count)
		}
		return
	}
	for i, stream := range []backend.Stream{backend.Stdout, backend.Stderr} {
		if got, want := texts(lines, stream), numberedText(count, i+1, 2); got != want {
			s.Errorf("%s: got %q\nwant %q", stream, got, want)
		}
	}
}

// numberedText returns every step-th line from from to count.
func numberedText(count, from, step int) string {
	var b strings.Builder
	for i := from; i <= count; i += step {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func noFollow(s *suite) {
	id := s.start(s.one(s.Programs.IgnoreTerm()))
	s.waitReady(id)
	s.wantLog(id, "ready\n")
	s.waitRunning(id)
}

func attempts(s *suite) {
	r := s.one(s.Programs.FailWith("attempt\n", 9))
	r.MaxRetries, r.RetryPolicy = 2, spec.RetryReplica
	id, _ := s.run(r)
	for name, c := range map[string]struct {
		o    backend.LogOptions
		want []int
	}{
		"the last":            {backend.LogOptions{Tail: -1}, []int{2}},
		"the last, following": {backend.LogOptions{Tail: -1, Follow: true}, []int{2}},
		"the first":           {backend.LogOptions{Tail: -1, Attempt: ptr(0)}, []int{0}},
		"first, following":    {backend.LogOptions{Tail: -1, Attempt: ptr(0), Follow: true}, []int{0}},
		"the second":          {backend.LogOptions{Tail: -1, Attempt: ptr(1)}, []int{1}},
		"all":                 {backend.LogOptions{Tail: -1, AllAttempts: true}, []int{0, 1, 2}},
		"from one on":         {backend.LogOptions{Tail: -1, AllAttempts: true, Attempt: ptr(1)}, []int{1, 2}},
		"from one on, later":  {backend.LogOptions{Tail: -1, AllAttempts: true, Attempt: ptr(1), FromLine: 2}, []int{2}},
		"all, following":      {backend.LogOptions{Tail: -1, AllAttempts: true, Follow: true}, []int{0, 1, 2}},
		"the end of all":      {backend.LogOptions{Tail: 2, AllAttempts: true}, []int{1, 2}},
	} {
		var got []int
		for _, l := range s.read(id, c.o) {
			got = append(got, l.attempt)
			if l.text != "attempt\n" {
				s.Errorf("%s: got line %q", name, l.text)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			s.Errorf("%s: got lines of attempts %v, want %v", name, got, c.want)
		}
	}
	o := everything()
	o.Attempt = ptr(3)
	_, err := s.Backend.Logs(s.ctx, id, spec.Replica{Role: "r"}, o)
	s.wantError("logs of attempt 3 of 3", err, backend.ErrNotFound)
}

func following() backend.LogOptions { return backend.LogOptions{Follow: true, Tail: -1} }

func followAll(s *suite) {
	const count = 20
	id := s.start(s.one(s.Programs.Lines(count, 20*time.Millisecond)))
	s.checkLines(s.read(id, following()), count)
	if st := s.describe(id); st.State != spec.Succeeded {
		s.Errorf("the follower ended, but the app is %v, want SUCCEEDED", st.State)
	}
	s.checkLines(s.read(id, everything()), count)
}

func followTail(s *suite) {
	id, _ := s.run(s.one(s.Programs.Lines(4, 20*time.Millisecond)))
	o := following()
	for tail, want := range map[int64]int{0: 0, 1: 1, 3: 3, 100: 4} {
		o.Tail = tail
		if got := s.read(id, o); len(got) != want {
			s.Errorf("tail %d: got %v, want %d lines", tail, got, want)
		}
	}
}

func followUntil(s *suite) {
	id := s.start(s.one(s.Programs.IgnoreTerm()))
	s.waitReady(id)
	o := following()
	o.Until = time.Now().Add(200 * time.Millisecond)
	if got := texts(s.read(id, o), backend.Combined); got != "ready\n" {
		s.Errorf("log %q", got)
	}
	if time.Now().Before(o.Until) {
		s.Error("the follower ended too early")
	}
	s.waitRunning(id)
}

func followCancelled(s *suite) {
	id := s.start(s.one(s.Programs.IgnoreTerm()))
	reader := s.open(id, spec.Replica{Role: "r"}, following())
	defer s.close(reader)
	if _, err := s.next(reader); err != nil {
		s.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(s.ctx, 50*time.Millisecond)
	defer cancel()
	if b, err := reader.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		s.Errorf("next: %+v, %v, want the context's error", b, err)
	}
}

func followFinished(s *suite) {
	id, _ := s.run(s.one(s.Programs.Lines(6, 0)))
	s.checkLines(s.read(id, following()), 6)
}

func followCancel(s *suite) {
	id := s.start(s.one(s.Programs.IgnoreTerm()))
	s.waitReady(id)
	reader := s.open(id, spec.Replica{Role: "r"}, following())
	defer s.close(reader)
	s.cancel(id, backend.CancelOptions{Force: true})
	if got := texts(s.readAll(reader), backend.Combined); got != "ready\n" {
		s.Errorf("log %q", got)
	}
}
