package position

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// store is a history that has positions only.
type store struct {
	history.Store
	positions map[string]string
	readOnly  bool
	err       error // of SetPositions
}

func (s *store) ReadOnly() bool { return s.readOnly }

func (s *store) GetPosition(_ context.Context, _, _, reader string) (string, bool, error) {
	text, ok := s.positions[reader]
	return text, ok, nil
}

func (s *store) SetPositions(_ context.Context, _, _ string, positions map[string]string) error {
	maps.Copy(s.positions, positions)
	return s.err
}

// printNew reads a log by a tracker and returns what would be printed.
func printNew(t *testing.T, h history.Store, warn *[]string, log string) string {
	t.Helper()
	tracker := NewTracker(Config{History: h, Warn: func(format string, args ...any) { *warn = append(*warn, fmt.Sprintf(format, args...)) }})
	r := spec.Replica{Role: "a", ID: 1}
	o := tracker.Options(t.Context(), r, backend.LogOptions{Tail: -1})
	lines := strings.SplitAfter(log, "\n")[o.FromLine-1:]
	reader := tracker.Reader(r, &blocks{[]backend.Block{out(strings.Join(lines, ""))}})
	var shown strings.Builder
	count := int64(0)
	for b, err := reader.Next(t.Context()); err == nil; b, err = reader.Next(t.Context()) {
		shown.Write(b.Data)
		count++
	}
	tracker.Written([]int64{count})
	tracker.Save(t.Context())
	return shown.String()
}

func TestTracker(t *testing.T) {
	t.Parallel()
	var warned []string
	h := &store{positions: map[string]string{}}
	for _, c := range []struct{ log, want string }{
		{"one\ntwo\n", "one\ntwo\n"}, {"one\ntwo\n", ""}, {"one\ntwo\nth", "th"}, {"one\ntwo\nthree\n", "ree\n"},
	} {
		if got := printNew(t, h, &warned, c.log); got != c.want {
			t.Errorf("of %q printed %q, want %q", c.log, got, c.want)
		}
	}
	if got, want := fmt.Sprint(h.positions), `map[log-new/a/1/combined:{"attempt":0,"lines":3}]`; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
	if len(warned) > 0 {
		t.Errorf("got warnings %q, want none", warned)
	}
}

func TestTrackerWithoutPositions(t *testing.T) {
	t.Parallel()
	seen := map[string]string{"log-new/a/1/combined": `{"lines":1}`}
	for name, c := range map[string]struct {
		h       history.Store
		printed string
		warning string
	}{
		"no history":        {nil, "one\n", "the previous position is not known, so all lines are printed: no history"},
		"read-only":         {&store{positions: seen, readOnly: true}, "one\n", "the previous position is not known, so all lines are printed: the history cannot be written"},
		"damaged":           {&store{positions: map[string]string{"log-new/a/1/combined": "{"}}, "one\n", "the previous position is not known, so all lines are printed: unexpected end of JSON input"},
		"not to be written": {&store{positions: map[string]string{}, err: errors.New("full")}, "one\n", "the next --new prints these lines again: full"},
	} {
		var warned []string
		if got := printNew(t, c.h, &warned, "one\n"); got != c.printed {
			t.Errorf("%s: printed %q, want %q", name, got, c.printed)
		}
		if got := strings.Join(warned, "|"); got != c.warning {
			t.Errorf("%s: warned %q, want %q", name, got, c.warning)
		}
	}
}
