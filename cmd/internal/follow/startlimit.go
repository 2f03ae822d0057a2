package follow

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/humanize"
	"torchx/runtime/spec"
)

// startLimits are how long an app on a cluster may take to start; 0 is any time.
type startLimits struct {
	pullText, pendingText string // of the flags
	pull                  time.Duration
	pending               time.Duration
}

// defaultPull is how long nodes may try to pull an image: they make about ten attempts in it.
const defaultPull = "10m"

func (l *startLimits) flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "pull-timeout", Usage: "on a cluster, with --wait or --log: end the app as FAILED with exit code 125 if an image cannot be pulled for `DURATION`, 0 for any time (default: " + defaultPull + ")", Destination: &l.pullText},
		&cli.StringFlag{Name: "pending-timeout", Usage: "on a cluster, with --wait or --log: end the app as FAILED with exit code 125 if replicas have not started after `DURATION`: 90s, 30m, 2h", Destination: &l.pendingText},
	}
}

// parse reads the flags of a command.
func (l *startLimits) parse(command string) error {
	for _, flag := range []struct {
		name, text string
		to         *time.Duration
	}{{"--pull-timeout", cmp.Or(l.pullText, defaultPull), &l.pull}, {"--pending-timeout", cmp.Or(l.pendingText, "0"), &l.pending}} {
		d, err := humanize.ParseDuration(flag.text)
		if err != nil || d < 0 {
			return program.Usagef(command, "%s %s is not a time such as 90s, 30m or 2h", flag.name, humanize.Quote(flag.text))
		}
		*flag.to = d
	}
	return nil
}

// check returns an error if limits were given that this command does not enforce.
func (l *startLimits) check(backendName string, runsHere, returns bool) error {
	given := strings.Join(append(named("--pull-timeout", l.pullText), named("--pending-timeout", l.pendingText)...), " and ")
	switch {
	case given == "":
		return nil
	case runsHere:
		return backend.Errorf(backend.ErrUnsupported, "%s: apps of %s start at once or fail, so only clusters have limits for that", given, backendName)
	case returns:
		return backend.Errorf(backend.ErrUnsupported, "%s: this command does not wait for the app, add --wait or --log", given)
	}
	return nil
}

func named(flag, text string) []string {
	if text == "" {
		return nil
	}
	return []string{flag}
}

// startWatch ends an app that does not start within its limits.
type startWatch struct {
	app
	limits  startLimits
	fail    func(reason string) // ends the app; called once
	mu      sync.Mutex
	last    *spec.Status
	blocked time.Time // since when an image cannot be pulled; zero: it can
	failed  bool
}

// limitStart enforces limits until stop is called.
func limitStart(a app, l startLimits) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	w := &startWatch{app: a, limits: l}
	w.fail = func(reason string) {
		a.Say("%s is ended: %s", a.ref.Handle(), reason)
		o := backend.CancelOptions{Follow: true, Failed: true, Reason: reason}
		if err := a.runner.Cancel(ctx, a.ref, o); err != nil && ctx.Err() == nil {
			a.Warn("%v", err)
		}
	}
	unobserve := a.runner.Observe(a.ref, w.observe)
	stopTimer := func() bool { return true }
	if l.pending > 0 {
		stopTimer = time.AfterFunc(l.pending, w.expire).Stop
	}
	return func() {
		cancel()
		stopTimer()
		unobserve()
	}
}

// observe notes a status, and ends the app if it cannot start.
func (w *startWatch) observe(s *spec.Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = s
	switch {
	case s.State.Terminal():
		w.failed = true // nothing to end
	case s.Blocked == spec.BlockedForGood:
		w.endFor("it cannot start: " + s.Msg)
	case s.Blocked == spec.NotBlocked:
		w.blocked = time.Time{}
	case w.blocked.IsZero():
		w.blocked = time.Now()
	case w.limits.pull > 0 && time.Since(w.blocked) >= w.limits.pull:
		w.endFor(fmt.Sprintf("no image for %s (--pull-timeout): %s", humanize.FormatDuration(w.limits.pull), s.Msg))
	}
}

// expire ends an app of which replicas have not started.
func (w *startWatch) expire() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last != nil && w.last.State.Started() && !w.last.Waiting {
		return
	}
	why := "it has not been scheduled"
	if w.last != nil && w.last.Msg != "" {
		why = w.last.Msg
	}
	w.endFor(fmt.Sprintf("not started after %s (--pending-timeout): %s", humanize.FormatDuration(w.limits.pending), why))
}

// endFor ends the app once. It does not block those who read the status.
func (w *startWatch) endFor(reason string) {
	if !w.failed {
		w.failed = true
		go w.fail(reason)
	}
}
