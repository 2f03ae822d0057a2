package logview

import (
	"strings"
	"sync"
	"testing"

	"torchx/runtime/backend"
)

// screen is a terminal that output and notes go to.
type screen struct {
	mu   sync.Mutex
	text strings.Builder
	seen chan struct{} // closed when a note is printed; may be nil
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// note returns a note that writes its name, after a newline if the output is in a line.
func (s *screen) note(name string, after int) Note {
	return Note{After: after, Print: func(midLine bool) {
		if midLine {
			name = "\n" + name
		}
		_, _ = s.Write([]byte(name + "\n"))
		if s.seen != nil {
			close(s.seen)
		}
	}}
}

func inAttempt(n int, text string) backend.Block {
	b := out(n, text)
	b.Attempt = n
	return b
}

func TestNotesBetweenAttempts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "a0\nrest\nfirst\na1\nsecond\na2\nthird\n"},
		{Options{Prefix: true}, "r/0 a0\nr/0 rest\nfirst\nr/0 a1\nsecond\nr/0 a2\nthird\n"},
	} {
		s := &screen{}
		test.o.Follow, test.o.Notes = true, NewNotes()
		for i, name := range []string{"first", "second", "third"} {
			test.o.Notes.Add(s.note(name, i))
		}
		ins := []Input{{Role: "r", Reader: &script{blocks: []backend.Block{
			inAttempt(0, "a0\n"), inAttempt(0, "rest"), inAttempt(1, "a1\n"), inAttempt(2, "a2\n"),
		}}}}
		stats, err := Copy(t.Context(), s, ins, test.o)
		if got := s.text.String(); err != nil || got != test.want {
			t.Errorf("got %q, %v, want %q", got, err, test.want)
		}
		if want := int64(len(test.want) - len("first\nsecond\nthird\n")); !test.o.Prefix && stats.Bytes != want-1 {
			t.Errorf("%d bytes are counted, want %d", stats.Bytes, want-1)
		}
		test.o.Notes.Add(s.note("late", 9))
		if got := s.text.String(); !strings.HasSuffix(got, "third\nlate\n") {
			t.Errorf("a note after the end: got %q", got)
		}
	}
}

// A note that no later attempt follows is printed when the output is idle.
func TestNoteWhenOutputIsIdle(t *testing.T) {
	t.Parallel()
	s := &screen{seen: make(chan struct{})}
	in := &script{blocks: []backend.Block{inAttempt(0, "a0\n"), inAttempt(1, "a1\n")}, gate: make(chan struct{})}
	notes := NewNotes()
	ended := make(chan error)
	go func() {
		_, err := Copy(t.Context(), s, []Input{{Role: "r", Reader: in}}, Options{Follow: true, Notes: notes})
		ended <- err
	}()
	in.gate <- struct{}{}
	notes.Add(s.note("note", 0))
	<-s.seen
	in.gate <- struct{}{}
	if err := <-ended; err != nil || s.text.String() != "a0\nnote\na1\n" {
		t.Errorf("got %q, %v", s.text.String(), err)
	}
}
