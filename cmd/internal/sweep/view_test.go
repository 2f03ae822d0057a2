package sweep

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// snapshotOf returns a sweep with one trial for each word: STATE, or STATE=VALUE.
func snapshotOf(words ...string) *sweep.Snapshot {
	s := &sweep.Snapshot{Definition: &sweep.Definition{Rules: sweep.Rules{Metric: "val_loss", Goal: metrics.Min}}}
	for i, word := range words {
		name, value, hasValue := strings.Cut(word, "=")
		t := sweep.TrialStatus{State: map[string]spec.State{
			"ok": spec.Succeeded, "run": spec.Running, "bad": spec.Failed, "wait": spec.Pending,
		}[name]}
		t.Number, t.Params = i, []sweep.Param{{Name: "lr", Value: fmt.Sprint(i)}, {Name: "file", Value: strings.Repeat("語", 60)}}
		if hasValue {
			v := 0.0
			_, _ = fmt.Sscan(value, &v)
			t.Value = &v
		}
		began, ended := now.Add(-time.Minute), now.Add(-20*time.Second)
		switch name {
		case "wait":
			s.Waiting++
		case "run":
			t.StartedAt, t.App = &began, history.AppKey{Backend: "local", ID: "app"}
			s.Alive++
		default:
			t.StartedAt, t.FinishedAt = &began, &ended
			s.Done++
		}
		if name == "bad" {
			s.Failed++
		}
		s.Trials = append(s.Trials, t)
	}
	s.FindBest()
	return s
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]*sweep.Snapshot{
		"0/1 done": snapshotOf("wait"),
		"2/6 done, 2 running, 1 failed, best val_loss 0.231 (trial 1), about 40s left": snapshotOf("bad", "ok=0.231", "run", "run", "wait", "wait"),
		"1/1 done": snapshotOf("ok"),
	} {
		if got := progressText(s, now); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestOrders: the best trials come first in the result; the running ones on the screen.
func TestOrders(t *testing.T) {
	t.Parallel()
	s := snapshotOf("wait", "ok=3", "bad", "ok=1", "run=9", "ok", "ok=NaN", "run")
	if got, want := fmt.Sprint(sweep.Ranked(s)), "[3 1 4 2 0 5 6 7]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(liveOrder(s)), "[4 7 3 1 2 5 6 0]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.Definition.Goal = metrics.Max
	if got, want := fmt.Sprint(sweep.Ranked(s)[:3]), "[4 1 3]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestScreen: no screen has more lines or columns than the terminal.
func TestScreen(t *testing.T) {
	t.Parallel()
	var words []string
	for i := range 60 {
		words = append(words, []string{"run", "ok=0.5", "bad", "wait"}[i%4])
	}
	s := snapshotOf(words...)
	held := newHeldBack(&strings.Builder{})
	l := &liveScreen{view: &view{Viewed: follow.Viewed{Console: ui.NewConsole(ui.Streams{}), Ref: history.AppKey{Backend: "sweep", ID: strings.Repeat("x", 70)}}, held: held}}
	for _, message := range []string{"", strings.Repeat("message ", 50) + "\n"} {
		held.hold()
		fmt.Fprint(held, message)
		for height := 1; height < 80; height += 1 + height/8 {
			for _, width := range []int{13, 40, 80, 200} {
				lines := l.lines(s, width, height, now)
				if len(lines) > height {
					t.Fatalf("got %d lines, want at most %d", len(lines), height)
				}
				for _, line := range lines {
					if n := ui.TextWidth(line); n > width {
						t.Fatalf("got %d columns, want at most %d: %q", n, width, line)
					}
				}
			}
		}
	}
	shown := strings.Join(l.lines(s, 80, 10, now), "\n")
	for _, want := range []string{"30/60 done, 15 running, 15 failed", "TRIAL", "55 more trials", "message"} {
		if !strings.Contains(shown, want) {
			t.Errorf("got\n%s\nwant %q", shown, want)
		}
	}
}

// TestLines: each end is printed once, in the order of the ends; trials that were left out or
// ended earlier are not.
func TestLines(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	l := lines{Console: ui.NewConsole(ui.Streams{Err: &out}), since: now.Add(-time.Hour), printed: map[int]bool{}}
	s := snapshotOf("ok=0.5", "bad", "run", "wait", "ok")
	code, first, long := 3, now.Add(-30*time.Second), now.Add(-2*time.Hour)
	s.Trials[1].ExitCode, s.Trials[1].FinishedAt, s.Trials[4].FinishedAt = &code, &first, &long
	for i := range s.Trials {
		s.Trials[i].Params = s.Trials[i].Params[:1]
	}
	l.add(s)
	s.Trials[2].State, s.Trials[2].FinishedAt = spec.Succeeded, s.Trials[0].FinishedAt
	s.Trials[3].State = spec.Cancelled
	l.add(s)
	want := "torchx: 2/5 done: trial 1 FAILED after 30s: exit code 3 (lr=1)\n" +
		"torchx: 3/5 done: trial 0 SUCCEEDED after 40s, val_loss 0.5 (lr=0)\n" +
		"torchx: 4/5 done: trial 2 SUCCEEDED after 40s (lr=2)\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestHeldBack(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	h := newHeldBack(&out)
	fmt.Fprint(h, "a\n")
	h.hold()
	fmt.Fprint(h, "b\nc\n")
	if out.String() != "a\n" || h.last() != "c" || len(h.news) != 1 {
		t.Errorf("got %q, last %q, %d news, want a, c and one", out.String(), h.last(), len(h.news))
	}
	h.release()
	fmt.Fprint(h, "d\n")
	if want := "a\nb\nc\nd\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// TestTable: a trial that the sweep stopped says why, and secrets are hidden.
func TestTable(t *testing.T) {
	t.Parallel()
	s := snapshotOf("ok=0.25", "bad")
	s.Trials[0].Params = []sweep.Param{{Name: "api_token", Value: "s3cret-s3cret"}, {Name: "msg", Value: "a\x1b[2Jb"}}
	s.Trials[1].Params, s.Trials[1].State, s.Trials[1].Stopped = s.Trials[0].Params, spec.Cancelled, "early stop: worse"
	s.Halted = sweep.ByGoal
	var out strings.Builder
	if err := ui.NewTrialTable(ui.NewConsole(ui.Streams{}), s, sweep.Ranked(s), now).Write(&out, ui.Style{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"0.25 *", "early stop: worse", `a\x1b[2Jb`, "0:40"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got\n%s\nwant %q", out.String(), want)
		}
	}
	if strings.Contains(out.String(), "s3cret") {
		t.Errorf("got\n%s\nwant the token hidden", out.String())
	}
}
