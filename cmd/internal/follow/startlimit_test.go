package follow

import (
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

func TestStartWatch(t *testing.T) {
	t.Parallel()
	image := &spec.Status{State: spec.Pending, Blocked: spec.BlockedByImage, Msg: "waits: no image"}
	mistake := &spec.Status{State: spec.Pending, Blocked: spec.BlockedForGood, Msg: "waits: InvalidImageName"}
	waits := &spec.Status{State: spec.Pending, Msg: "waits: no node is free"}
	partly := &spec.Status{State: spec.Running, Waiting: true, Msg: "1 of 2 replicas wait"}
	runs := &spec.Status{State: spec.Running}
	ended := &spec.Status{State: spec.Failed}
	for name, tt := range map[string]struct {
		pull   time.Duration
		seen   []*spec.Status
		expire bool   // --pending-timeout has passed
		want   string // reason; "": goes on
	}{
		"mistake":                    {time.Hour, []*spec.Status{waits, mistake}, false, "it cannot start: waits: InvalidImageName"},
		"image, too long":            {1, []*spec.Status{image, image}, false, "no image for 1ns (--pull-timeout): waits: no image"},
		"image, not yet":             {time.Hour, []*spec.Status{image, image}, false, ""},
		"image, any time":            {0, []*spec.Status{image, image}, false, ""},
		"image came":                 {1, []*spec.Status{image, waits, image}, false, ""},
		"pending":                    {0, []*spec.Status{waits}, true, "not started after 1m (--pending-timeout): waits: no node is free"},
		"pending, without a status":  {0, nil, true, "has not been scheduled"},
		"pending, some replicas run": {0, []*spec.Status{partly}, true, "1 of 2 replicas wait"},
		"pending, but started":       {0, []*spec.Status{waits, runs}, true, ""},
		"pending, but ended":         {0, []*spec.Status{waits, ended}, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reasons := make(chan string, 9)
			w := &startWatch{limits: startLimits{pull: tt.pull, pending: time.Minute}, fail: func(reason string) { reasons <- reason }}
			for _, s := range tt.seen {
				w.observe(s)
			}
			if tt.expire {
				w.expire()
			}
			if w.failed && tt.want == "" && tt.seen[len(tt.seen)-1] != ended || !w.failed && tt.want != "" {
				t.Fatalf("failed: got %v, want %q", w.failed, tt.want)
			}
			if tt.want == "" {
				return
			}
			if got := <-reasons; !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestStartLimits(t *testing.T) {
	t.Parallel()
	l := startLimits{}
	if err := l.parse("run"); err != nil || l.pull != 10*time.Minute || l.pending != 0 {
		t.Errorf("defaults: got %+v, %v", l, err)
	}
	if err := l.check("local", true, false); err != nil {
		t.Error(err)
	}
	l = startLimits{pullText: "0", pendingText: "1h"}
	if err := l.parse("run"); err != nil || l.pull != 0 || l.pending != time.Hour {
		t.Errorf("given: got %+v, %v", l, err)
	}
	if l.check("local", true, false) == nil || l.check("kubernetes", false, true) == nil || l.check("kubernetes", false, false) != nil {
		t.Error("limits are for commands that wait for a cluster")
	}
	l = startLimits{pullText: "soon"}
	if err := l.parse("run"); err == nil || !strings.Contains(err.Error(), "--pull-timeout") {
		t.Errorf("got %v, want an error about --pull-timeout", err)
	}
}
