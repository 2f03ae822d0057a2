package follow

import (
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/runner"
)

// waitingLog is a log that waits to be followed.
type waitingLog struct{ backend.LogReader }

func (waitingLog) Waits() bool { return true }

// TestHint: of many replicas, those that are not shown yet are named, and how to name some.
func TestHint(t *testing.T) {
	t.Parallel()
	target := LogTarget{Ref: history.AppKey{Backend: "kubernetes", ID: "default:a"}}
	logs := func(count, waiting int) (open []runner.LogInput) {
		for i := range count {
			in := runner.LogInput{Role: "r", ID: i}
			if i >= count-waiting {
				in.Reader = waitingLog{}
			}
			open = append(open, in)
		}
		return open
	}
	for what, c := range map[string]struct {
		open   []runner.LogInput
		follow bool
		want   []string // none: no hint
	}{
		"few":               {open: logs(manyLogs-1, 0)},
		"many":              {open: logs(manyLogs, 0), want: []string{"the logs of 1000 replicas", "torchx log kubernetes://torchx/default:a/r/0,1"}},
		"many are followed": {open: logs(manyLogs, 0), follow: true},
		"some wait":         {open: logs(5, 2), follow: true, want: []string{"3 of 5 replicas", "from r/3 on", "torchx log -t kubernetes://torchx/default:a/r/3"}},
	} {
		got := hint(LogRequest{Target: target, Read: backend.LogOptions{Follow: c.follow}}, c.open)
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		}
		if len(c.want) == 0 && got != "" {
			t.Errorf("%s: got %q, want no hint", what, got)
		}
	}
}
