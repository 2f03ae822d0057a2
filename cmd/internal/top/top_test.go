package top

import (
	"math"
	"strconv"
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
		keys string
		at   int
	}{{"[A", 4}, {"OB", 6}, {"[H", 0}, {"[1~", 0}, {"[F", 8}, {"[4~", 8}, {"[Z", 5}} {
		keys := make(chan byte, len(c.keys))
		v := &topScreen{selected: selection{at: 5}, screen: &tty.FullScreen{Keys: keys}}
		for range 3 {
			v.apps = append(v.apps, &usage.App{View: view(strconv.Itoa(len(v.apps)), spec.Running), Replicas: make([]usage.Replica, 2)})
		}
		for _, k := range []byte(c.keys) {
			keys <- k
		}
		if v.key(t.Context(), '\x1b'); v.selected.at != c.at {
			t.Errorf("%q: row %d, want %d", c.keys, v.selected.at, c.at)
		}
	}
}

// TestSelection: the selected row stays selected when rows come and go, and in view.
func TestSelection(t *testing.T) {
	t.Parallel()
	rows := func(ids ...string) (rows []row) {
		for _, id := range ids {
			rows = append(rows, row{app: &usage.App{View: view(id, spec.Running)}})
		}
		return rows
	}
	const page = 2
	s := &selection{}
	for i, c := range []struct {
		rows            []row
		move, at, first int
	}{
		{rows(), 0, 0, 0},
		{rows("a", "b", "c"), 0, 0, 0},
		{rows("a", "b", "c"), 2, 2, 1},
		{rows("z", "y", "c", "a", "b"), 0, 2, 1},
		{rows("z", "y", "a", "b"), 0, 2, 1}, // c has ended
		{rows("z"), 0, 0, 0},
		{rows("z", "y", "x"), math.MaxInt32, 2, 1},
		{rows(), -1, 0, 0},
	} {
		if s.move(c.rows, c.move, page); s.at != c.at || s.first != c.first {
			t.Errorf("step %d: row %d, first %d, want %d and %d", i, s.at, s.first, c.at, c.first)
		}
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	apps := []*usage.App{{View: view("train-a", spec.Running)}, {View: view("eval-b", spec.Failed)}}
	f := &filter{typing: true}
	for _, c := range []struct {
		key  byte
		want string
	}{{'T', "train-a"}, {'x', ""}, {127, "train-a"}, {21, "train-a eval-b"}, {'q', ""}, {27, "train-a eval-b"}} {
		f.key(c.key)
		var ids []string
		for _, a := range f.apply(apps) {
			ids = append(ids, a.ID)
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("after %q: %q, want %q", c.key, got, c.want)
		}
	}
	if f.typing {
		t.Error("esc has not ended the input")
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
