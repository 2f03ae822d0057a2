package follow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// pendingAnnouncer prints on stderr why a followed app, or some of its replicas, do not start, such
// as an image that cannot be pulled, a quota or a queue. It prints each reason once, after the app
// has had it for hintTime. Reasons that differ only in numbers, such as how many replicas wait, are
// one numberPause apart.
type pendingAnnouncer struct {
	console *ui.Console
	handle  string
	stop    func()

	mu      sync.Mutex
	seen    time.Time // when the last status was read; zero: none was
	pending bool      // by the last status, the app or some of its replicas
	reason  string    // of the last status, "" if the app is not pending
	timer   *time.Timer
	printed map[string]bool
	shapes  map[string]time.Time // when a reason was last printed, by its text without numbers
}

// numberPause is the least time between reasons that differ only in numbers.
const numberPause = 30 * time.Second

// shapeOf returns a reason without its digits.
func shapeOf(reason string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, reason)
}

func newPendingAnnouncer(c *ui.Console, handle string) *pendingAnnouncer {
	return &pendingAnnouncer{console: c, handle: handle, printed: map[string]bool{}, shapes: map[string]time.Time{}}
}

// Intervals at which an app is read while it is pending: what explains why it waits is not
// watched, and on other machines takes several requests, so they grow there.
const (
	pendingHere  = time.Second
	pendingFirst = 5 * time.Second
	pendingLast  = 30 * time.Second
)

func announcePending(c *ui.Console, r *runner.Runner, ref runner.Ref) *pendingAnnouncer {
	p := newPendingAnnouncer(c, ref.Handle())
	ctx, cancel := context.WithCancel(context.Background())
	unobserve := r.Observe(ref, p.observe)
	p.stop = func() {
		cancel()
		unobserve()
	}
	first, last := pendingFirst, pendingLast
	if can, err := r.Backends.Capabilities(ref.Backend); err == nil && can.RunsHere {
		first, last = pendingHere, pendingHere
	}
	go p.poll(ctx, first, last, func() (*spec.Status, error) { return r.Status(ctx, ref) })
	return p
}

// AnnounceWaiting prints on stderr why an app does not start, each reason once, until stop is
// called.
func AnnounceWaiting(c *ui.Console, r *runner.Runner, ref runner.Ref) (stop func()) {
	return announcePending(c, r, ref).close
}

// poll reads the status while the app is pending, until ctx is done, unless another part of the
// program has just read it.
func (p *pendingAnnouncer) poll(
	ctx context.Context, first, last time.Duration, read func() (*spec.Status, error),
) {
	for pause := first; ; pause = min(pause*3/2, last) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		p.mu.Lock()
		pending := p.pending || p.seen.IsZero()
		recent := time.Since(p.seen) < pause/2
		p.mu.Unlock()
		if !pending {
			pause = first
		}
		if !pending || recent {
			continue
		}
		if s, err := read(); err == nil && ctx.Err() == nil {
			p.observe(s)
		}
	}
}

// submitting is the reason of an app that another command has not submitted yet.
const submitting = "the command that submits it has not started it yet: it may be building or pulling an image"

func (p *pendingAnnouncer) observe(s *spec.Status) {
	p.mu.Lock()
	p.seen, p.pending = time.Now(), !s.State.Started() || s.Waiting
	p.mu.Unlock()
	p.setReason(pendingReason(s))
}

// pendingReason returns why an app, or some of its replicas, have not started, to follow its
// handle; "" if they have, or if nothing is known.
func pendingReason(s *spec.Status) string {
	switch {
	case isPreparing(s):
		return fmt.Sprintf("is %s: %s", s.State, s.Msg)
	case s.State == spec.Submitted:
		return fmt.Sprintf("is %s: %s", s.State, submitting)
	case isQueued(s):
		return s.Msg // as awaitStart says it
	case s.Msg != "" && (s.State == spec.Pending || s.State == spec.Running && s.Waiting):
		return fmt.Sprintf("is %s: %s", s.State, s.Msg)
	}
	return ""
}

// causeOfWait returns a reason without the state of the app, which may change meanwhile.
func causeOfWait(reason string) string {
	if _, cause, ok := strings.Cut(reason, ": "); ok {
		return cause
	}
	return reason
}

func isPreparing(s *spec.Status) bool {
	return s.State == spec.Submitted && strings.HasPrefix(s.Msg, spec.PreparingMark)
}

func isQueued(s *spec.Status) bool {
	return spec.IsQueued(s.State, s.Msg)
}

// SayWaiting prints that an app has not started. A reason that certainly lasts is printed
// immediately, in the words of an Announcer, which then does not repeat it.
func SayWaiting(c *ui.Console, s *spec.Status) {
	if isQueued(s) || isPreparing(s) {
		c.SayOnce("%s %s", s.Handle, pendingReason(s))
		return
	}
	c.Say("waiting for %s to start: it is %s", s.Handle, s.State)
}

// setReason prints a reason after hintTime, unless another one is set before.
func (p *pendingAnnouncer) setReason(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason == p.reason {
		return
	}
	if p.reason = reason; p.timer != nil {
		p.timer.Stop()
	}
	if reason != "" && !p.printed[causeOfWait(reason)] {
		pause := max(hintTime, time.Until(p.shapes[shapeOf(reason)].Add(numberPause)))
		p.timer = time.AfterFunc(pause, func() { p.print(reason) })
	}
}

func (p *pendingAnnouncer) print(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason == p.reason { // the timer may have fired while it was stopped
		p.printed[causeOfWait(reason)], p.shapes[shapeOf(reason)] = true, time.Now()
		p.console.SayOnce("%s %s", p.handle, reason)
	}
}

func (p *pendingAnnouncer) close() {
	p.stop()
	p.setReason("")
}
