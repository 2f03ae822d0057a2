package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"torchx/runtime/backend"
)

// screenOf shows steps at intervals on a terminal of a width (0: not a terminal) and returns
// what was printed.
func screenOf(width, level int, every time.Duration, steps ...backend.Step) string {
	var b bytes.Buffer
	c := NewConsole(Streams{nil, &b, &b})
	c.Level = level
	now := time.Unix(0, 0)
	d := &Display{Console: c, width: func() int { return width }, now: func() time.Time { return now }}
	for _, s := range steps {
		d.Tell(s)
		now = now.Add(every)
	}
	return b.String()
}

var pulling = []backend.Step{
	{Name: "pull a:1", Text: "asking docker.io"},
	{Name: "pull b:1"},
	{Name: "pull a:1", Text: "1 of 2 layers", Done: 50, Total: 200},
	{Name: "pull a:1", Done: 190, Total: 200},
	{Name: "pull b:1", Ended: true, Failed: true},
	{Name: "pull a:1", Ended: true},
}

func TestProgressOffTerminal(t *testing.T) {
	t.Parallel()
	want := "torchx: pull a:1:  asking docker.io\ntorchx: pull b:1:\n"
	if got := screenOf(0, LevelInfo, time.Second, pulling...); got != want+"torchx: pull a:1: done after 5s\n" {
		t.Errorf("steps of one second: got\n%s", got)
	}
	slow := want + "torchx: pull a:1:  25% of 200 B  1 of 2 layers\ntorchx: pull a:1:  95% of 200 B  1 of 2 layers\ntorchx: pull a:1: done after 50s\n"
	if got := screenOf(0, LevelInfo, reportEvery, pulling...); got != slow {
		t.Errorf("steps of ten seconds: got\n%s", got)
	}
	quiet := append(pulling[:3:3], backend.Step{Warning: "look out"})
	if got := screenOf(0, LevelWarning, time.Second, quiet...); got != "torchx: warning: look out\n" {
		t.Errorf("with --log_level warning: got %q, want only the warning", got)
	}
}

func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	got := screenOf(40, LevelInfo, time.Second, append(pulling[:3:3], backend.Step{Name: "pull a:1", Output: "a \x1b[2Jline"})...)
	for line := range strings.Lines(got) {
		if plain := line[strings.LastIndex(line, "\x1b[J")+1:]; len(plain) > 40+len("[J") {
			t.Errorf("got %d columns, want at most 40: %q", len(plain)-1, line)
		}
	}
	// The output stays and the bars are drawn again below it.
	if want := "\r\x1b[2A\x1b[J  a \\x1b[2Jline\ntorchx: pull a:1:  25% of 200 B\ntorchx: pull b:1:\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at its end", got, want)
	}
	got = screenOf(80, LevelInfo, time.Second, pulling...)
	if want := "\r\x1b[1A\x1b[Jtorchx: pull a:1: done after 5s\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at its end", got, want)
	}
	// Texts that do not fit are left out, not cut in a number.
	for width, want := range map[int]string{
		80: "torchx: pull a:1:  [=====               ]   25% of 200 B  1 of 2 layers\n",
		70: "torchx: pull a:1:  [=====               ]   25% of 200 B\n",
		50: "torchx: pull a:1:  25% of 200 B\n",
		25: "torchx: pull a:1:  25% o\n",
	} {
		if got := screenOf(width, LevelInfo, time.Second, pulling[2]); got != want {
			t.Errorf("%d columns: got %q, want %q", width, got, want)
		}
	}
	if got := screenOf(80, LevelInfo, redrawEvery/10, pulling[:4]...); strings.Count(got, "pull a:1") != 2 {
		t.Errorf("got %q, want each step drawn once", got)
	}
}
