package follow

import (
	"strings"
	"sync"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// pendingAnnouncer prints on stderr why a followed app does not start, such as an image that
// cannot be pulled. It prints each reason once, after the app has had it for hintTime. The
// reasons of the local queue are printed by awaitStart.
type pendingAnnouncer struct {
	console *ui.Console
	handle  string
	stop    func()

	mu      sync.Mutex
	reason  string // of the last status, "" if the app is not pending
	timer   *time.Timer
	printed map[string]bool
}

func announcePending(c *ui.Console, r *runner.Runner, ref runner.Ref) *pendingAnnouncer {
	p := &pendingAnnouncer{console: c, handle: ref.Handle(), printed: map[string]bool{}}
	p.stop = r.Observe(ref, p.observe)
	return p
}

func (p *pendingAnnouncer) observe(s *spec.Status) {
	reason := ""
	if s.State == spec.Pending && !strings.HasPrefix(s.Msg, spec.QueuedMark) {
		reason = s.Msg
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
		p.console.Say("%s is %s: %s", p.handle, spec.Pending, reason)
	}
}

func (p *pendingAnnouncer) close() {
	p.stop()
	p.setReason("")
}
