package top

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/usage"
)

func TestCleanLines(t *testing.T) {
	t.Parallel()
	line := "\x1b[31mred"
	apps := []*usage.App{{Replicas: []usage.Replica{{}, {LastLine: &line}}}}
	cleanLines(apps)
	if want := `\x1b[31mred`; *apps[0].Replicas[1].LastLine != want {
		t.Errorf("got %q, want %q", *apps[0].Replicas[1].LastLine, want)
	}
}

func TestTopKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys  string
		first int
	}{{"[A", 4}, {"OB", 6}, {"[H", 0}, {"[1~", 0}, {"[F", math.MaxInt}, {"[4~", math.MaxInt}, {"[Z", 5}} {
		keys := make(chan byte, len(c.keys))
		v := &topScreen{first: 5, screen: &tty.FullScreen{Keys: keys}}
		for _, k := range []byte(c.keys) {
			keys <- k
		}
		if v.key('\x1b'); v.first != c.first {
			t.Errorf("%q: first row %d, want %d", c.keys, v.first, c.first)
		}
	}
}

// TestTopWidth checks that no line is wider than the terminal.
func TestTopWidth(t *testing.T) {
	t.Parallel()
	line, bytes, percent := strings.Repeat("loss ", 50), int64(900<<20), 99.5
	for width := 13; width < 300; width++ {
		tab := topTable([]*usage.App{{
			View: view("a-rather-long-name-pmh49wllj3gz9", spec.Cancelled), Amounts: usage.Amounts{RSS: &bytes, CPU: &percent, Elapsed: &percent},
			Replicas: []usage.Replica{{Role: "trainer", ID: 299, State: spec.Running, LastLine: &line, Amounts: usage.Amounts{RSS: &bytes}}},
		}})
		cutLines(tab, width)
		var text strings.Builder
		if err := tab.Write(&text, ui.Style{}); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(text.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(l, "\n")); n > width {
				t.Errorf("got %d columns, want at most %d: %q", n, width, l)
			}
		}
		if shows := "a-rather-"; width >= 30 && !strings.Contains(text.String(), shows) || width >= 40 && !strings.Contains(text.String(), "CANCELLED") {
			t.Errorf("%d columns:\n%s", width, text.String())
		}
	}
}

func TestSortTop(t *testing.T) {
	t.Parallel()
	f := func(v float64) *float64 { return &v }
	n := func(v int64) *int64 { return &v }
	// e has ended, so by an amount it comes last.
	for order, want := range map[string]string{"cpu": "b a c e", "memory": "a b c e", "elapsed": "c a b e", "name": "a b c e"} {
		apps := []*usage.App{
			{View: view("e", spec.Succeeded), Amounts: usage.Amounts{CPU: f(99), RSS: n(99), Elapsed: f(99)}},
			{View: view("a", spec.Unsubmitted), Amounts: usage.Amounts{CPU: f(1), RSS: n(9), Elapsed: f(2)}},
			{View: view("c", spec.Unsubmitted), Amounts: usage.Amounts{Elapsed: f(3)}},
			{View: view("b", spec.Unsubmitted), Amounts: usage.Amounts{CPU: f(50), RSS: n(1), Elapsed: f(1)}},
		}
		sortTop(apps, order)
		var got []string
		for _, a := range apps {
			got = append(got, a.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", order, got, want)
		}
	}
	app := &usage.App{View: view("", spec.Running), Replicas: []usage.Replica{
		{ID: 0, State: spec.Failed, Amounts: usage.Amounts{CPU: f(90)}}, {ID: 1, State: spec.Running, Amounts: usage.Amounts{CPU: f(1)}},
	}}
	sortTop([]*usage.App{app}, "cpu")
	if got := app.Replicas[0].ID; got != 1 {
		t.Errorf("got replica %d first, want 1, which is running", got)
	}
}

func view(id string, state spec.State) history.View {
	return history.View{App: history.App{AppKey: history.AppKey{ID: id}, Outcome: history.Outcome{State: state}}}
}
