package backendtest

import (
	"fmt"
	"reflect"
	"time"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// apart is a pause between lines that makes their order and times distinct.
const apart = 30 * time.Millisecond

func selectStream(s *suite) {
	id, _ := s.run(s.one(s.Programs.Lines(6, apart)))
	for stream, want := range map[backend.Stream]string{
		"": numberedText(6, 1, 1), backend.Combined: numberedText(6, 1, 1),
		backend.Stdout: numberedText(6, 1, 2), backend.Stderr: numberedText(6, 2, 2),
	} {
		o := everything()
		o.Stream = stream
		lines := s.read(id, o)
		if got := texts(lines, backend.Combined); got != want {
			s.Errorf("stream %q: got %q, want %q", stream, got, want)
		}
		for i, l := range lines {
			if l.stream != backend.Stdout && l.stream != backend.Stderr || l.attempt != 0 {
				s.Errorf("line %d of stream %q: got %+v", i, stream, l)
			}
		}
	}
}

func unknownStream(s *suite) {
	id, _ := s.run(s.one(s.Programs.Echo("x")))
	o := everything()
	o.Stream = "stdlog"
	_, err := s.Backend.Logs(s.ctx, id, spec.Replica{Role: "r"}, o)
	s.wantError("logs", err, backend.ErrInvalidOption)
}

func selectLines(s *suite) {
	id, _ := s.run(s.one(s.Programs.Lines(6, apart)))
	for _, stream := range []backend.Stream{backend.Combined, backend.Stdout} {
		if stream == backend.Stdout && !s.Caps.Streams {
			continue
		}
		o := everything()
		o.Stream = stream
		all := s.read(id, o)
		n := int64(len(all))
		for _, c := range []struct {
			from, to, tail int64
			want           []line
		}{
			{0, 0, 0, nil},
			{0, 0, 1, all[n-1:]},
			{0, 0, 2, all[n-2:]},
			{0, 0, n + 5, all},
			{1, 0, -1, all},
			{2, 0, -1, all[1:]},
			{2, 2, -1, all[1:2]},
			{1, 2, -1, all[:2]},
			{0, 1, -1, all[:1]},
			{n, 0, -1, all[n-1:]},
			{n + 1, 0, -1, nil},
			{3, 2, -1, nil},
			{1, 2, 1, all[1:2]},
			{2, 0, 1, all[n-1:]},
		} {
			for _, follow := range []bool{false, true} {
				o := backend.LogOptions{Stream: stream, FromLine: c.from, ToLine: c.to, Tail: c.tail, Follow: follow}
				s.checkSame(fmt.Sprintf("%s, lines %d to %d, the last %d, follow %v", stream, c.from, c.to, c.tail, follow), s.read(id, o), c.want)
			}
		}
	}
}

// checkSame compares lines without their times, because part of a block may have another time.
func (s *suite) checkSame(what string, got, want []line) {
	s.Helper()
	if !reflect.DeepEqual(describeLines(got), describeLines(want)) {
		s.Errorf("%s: %q, want %q", what, describeLines(got), describeLines(want))
	}
}

func describeLines(lines []line) []string {
	all := []string{}
	for _, l := range lines {
		all = append(all, fmt.Sprintf("%s %d %s", l.stream, l.attempt, l.text))
	}
	return all
}

func selectTime(s *suite) {
	before := time.Now().Add(-time.Second)
	id, _ := s.run(s.one(s.Programs.Lines(6, apart)))
	all := s.read(id, everything())
	if len(all) != 6 {
		s.Fatalf("log %v", all)
	}
	for i, l := range all {
		if l.time.Before(before) || l.time.After(time.Now().Add(time.Second)) {
			s.Fatalf("line %d: got time %v", i, l.time)
		}
		before = l.time
	}
	third, fifth := all[2].time, all[4].time
	if fifth.Equal(all[0].time) {
		s.Fatalf("log %v: want lines of several times", all)
	}
	for name, c := range map[string]struct{ since, until time.Time }{
		"since is inclusive":   {third, time.Time{}},
		"just after":           {third.Add(1), time.Time{}},
		"until is exclusive":   {time.Time{}, third},
		"until, just after":    {time.Time{}, third.Add(1)},
		"both":                 {third, fifth},
		"nothing between":      {fifth, third},
		"before everything":    {all[0].time.Add(-time.Hour), time.Time{}},
		"since the far future": {time.Now().Add(time.Hour), time.Time{}},
	} {
		var want []line // a busy node can give lines the same time that were written one after the other
		for _, l := range all {
			if !l.time.Before(c.since) && (c.until.IsZero() || l.time.Before(c.until)) {
				want = append(want, l)
			}
		}
		for _, follow := range []bool{false, true} {
			o := backend.LogOptions{Since: c.since, Until: c.until, Tail: -1, Follow: follow}
			s.checkSame(fmt.Sprintf("%s, follow %v", name, follow), s.read(id, o), want)
		}
	}
	o := backend.LogOptions{Since: third, Tail: 1}
	s.checkSame("the last since", s.read(id, o), all[5:])
}
