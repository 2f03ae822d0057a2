package follow

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// pendingAnnouncer prints on stderr why a followed app does not start, such as an image that
// cannot be pulled, a quota or a queue. It prints each reason once, after the app has had it for
// hintTime.
type pendingAnnouncer struct {
	console *ui.Console
	handle  string
	stop    func()

	mu      sync.Mutex
	seen    bool   // a status was seen
	pending bool   // by the last status
	queued  bool   // the reasons of the local queue are printed by awaitStart
	reason  string // of the last status, "" if the app is not pending
	timer   *time.Timer
	printed map[string]bool
}

// Intervals at which an app is read while it is pending: what explains why it waits is not
// watched, and on other machines takes several requests.
const (
	pendingEvery     = 5 * time.Second
	pendingHereEvery = time.Second
)

func announcePending(c *ui.Console, r *runner.Runner, ref runner.Ref) *pendingAnnouncer {
	p := &pendingAnnouncer{console: c, handle: ref.Handle(), printed: map[string]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	unobserve := r.Observe(ref, p.observe)
	p.stop = func() {
		cancel()
		unobserve()
	}
	every := pendingEvery
	if b, err := r.Backends.Get(ref.Backend); err == nil && backend.RunsHere(b) {
		every = pendingHereEvery
	}
	go p.poll(ctx, every, func() (*spec.Status, error) { return r.Status(ctx, ref) })
	return p
}

// poll reads the status while the app is pending, until ctx is done.
func (p *pendingAnnouncer) poll(ctx context.Context, every time.Duration, read func() (*spec.Status, error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		p.mu.Lock()
		wanted := p.pending || !p.seen
		p.mu.Unlock()
		if !wanted {
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
	p.seen, p.pending = true, !s.State.Started()
	queued := p.queued
	p.mu.Unlock()
	reason := ""
	switch {
	case s.State == spec.Submitted:
		reason = fmt.Sprintf("%s: %s", s.State, submitting)
	case s.State == spec.Pending && s.Msg != "" && !(queued && strings.HasPrefix(s.Msg, spec.QueuedMark)):
		reason = fmt.Sprintf("%s: %s", s.State, s.Msg)
	}
	p.setReason(reason)
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
	if reason != "" && !p.printed[reason] {
		p.timer = time.AfterFunc(hintTime, func() { p.print(reason) })
	}
}

func (p *pendingAnnouncer) print(reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason == p.reason { // the timer may have fired while it was stopped
		p.printed[reason] = true
		p.console.Say("%s is %s", p.handle, reason)
	}
}

// leaveQueue leaves the reasons of the local queue to awaitStart.
func (p *pendingAnnouncer) leaveQueue() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queued = true
}

func (p *pendingAnnouncer) close() {
	p.stop()
	p.setReason("")
}
