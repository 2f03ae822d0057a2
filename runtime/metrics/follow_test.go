package metrics

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// reader collects what a Follower reads.
type reader struct {
	*testing.T
	f   *Follower
	got string
}

func (r *reader) read() string {
	r.Helper()
	r.got = ""
	err := r.f.Read(func(name int, p *Point) { r.got += fmt.Sprintf(" %d:%d=%v", name, p.Step, p.Value) }, func(name int) { r.got += fmt.Sprintf(" reset%d", name) })
	if err != nil {
		r.got += " error"
	}
	return strings.TrimSpace(r.got)
}

func addSteps(t *testing.T, s *Store, k Key, source string, steps ...int64) {
	t.Helper()
	for _, step := range steps {
		s.Add(k, Point{Time: time.Unix(step, 0), Step: step, HasStep: true, Value: float64(step) / 2}, source)
	}
	if err := s.Flush(nil); err != nil {
		t.Fatal(err)
	}
}

// TestFollower: each point of the main series is read once, while a store is written.
func TestFollower(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &reader{T: t, f: Follow(dir, "loss", "acc")}
	want := func(want string) {
		t.Helper()
		if got := r.read(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	want("")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	addSteps(t, s, Key{"b", 1, "loss"}, SourceFile, 1, 2)
	addSteps(t, s, Key{"b", 1, "other"}, SourceFile, 7)
	want("0:1=0.5 0:2=1")
	want("")
	addSteps(t, s, Key{"b", 0, "loss"}, SourceLog, 3) // a replica before the first
	addSteps(t, s, Key{"b", 1, "loss"}, SourceFile, 4)
	addSteps(t, s, Key{"b", 1, "acc"}, SourceFile, 5)
	want("reset0 0:3=1.5 1:5=2.5")
	addSteps(t, s, Key{"b", 0, "loss"}, SourceFile, 6) // a source before it
	addSteps(t, s, Key{"b", 0, "loss"}, SourceLog, 8)
	want("reset0 0:6=3")
	s.SetComplete(true)
	if err := s.Flush(nil); err != nil {
		t.Fatal(err)
	}
	want("") // complete
	again := &reader{T: t, f: Follow(dir, "loss@log", "acc")}
	if got := again.read(); got != "0:3=1.5 1:5=2.5 0:8=4" {
		t.Errorf("a new follower of another name: got %q", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestFollowerOfDamage: an unfinished frame is waited for; a damaged one ends the points; a store
// that lost its end is read again.
func TestFollowerOfDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	addSteps(t, s, Key{"r", 0, "loss"}, SourceFile, 1)
	points := filepath.Join(dir, Folder, pointsFile)
	one, err := os.ReadFile(points)
	if err != nil {
		t.Fatal(err)
	}
	addSteps(t, s, Key{"r", 0, "loss"}, SourceFile, 2)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	two, _ := os.ReadFile(points)
	r := &reader{T: t, f: Follow(dir, "loss")}
	for _, c := range []struct {
		content []byte
		want    string
	}{
		{two[:len(two)-1], "0:1=0.5"},
		{two, "0:2=1"},
		{one, "reset0 0:1=0.5"},
		{two, "0:2=1"},
		{append(append([]byte{}, two...), "XXXXYYYYZZZZ and more"...), "error"},
		{two, "error"},
	} {
		if err := os.WriteFile(points, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := r.read(); got != c.want {
			t.Errorf("%d bytes: got %q, want %q", len(c.content), got, c.want)
		}
	}
}

// TestNumber: a value in JSON is read as it was written.
func TestNumber(t *testing.T) {
	t.Parallel()
	for _, v := range []float64{0, -1.5, 1e300, math.Inf(1), math.Inf(-1), math.NaN(), 0.1} {
		data, err := json.Marshal(Number(v))
		var back Number
		if err == nil {
			err = json.Unmarshal(data, &back)
		}
		if err != nil || math.Float64bits(float64(back)) != math.Float64bits(v) && !math.IsNaN(v) || math.IsNaN(v) != math.IsNaN(float64(back)) {
			t.Errorf("%v: got %s, %v, %v", v, data, back, err)
		}
	}
	for _, text := range []string{`"1"`, `null1`, `[]`} {
		var n Number
		if err := json.Unmarshal([]byte(text), &n); err == nil {
			t.Errorf("%s: got %v, want an error", text, n)
		}
	}
}

// TestGoal: names and suffixes decide which values are better.
func TestGoal(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Goal{"val_loss": Min, "val_acc": Max, "eval/F1": Max, "account": "", "top5": Max, "maps": "", "lr": "", "train/loss": Min, "reward_loss": Max, "valLoss": Min, "epoch": ""} {
		if got := GoalOf(name); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	for text, want := range map[string]string{"loss": "loss ", "a:b:max": "a:b max", "acc:min": "acc min", ":max": "error", "": "error"} {
		name, goal, err := ParseGoal(text)
		got := fmt.Sprint(name, " ", goal)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
