package follow

import (
	"context"
	"fmt"
	"strings"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// queueLook is how often a foreground run looks whether its app still waits.
const queueLook = 100 * time.Millisecond

// askForQueue makes a plan wait for its turn, where the backend can do that.
func askForQueue(r *runner.Runner, p *runner.Planned) error {
	b, err := r.Backends.Get(p.Backend)
	if err != nil {
		return err
	}
	if q, ok := b.(backend.Queuer); !ok || !q.Queues() {
		return backend.Errorf(backend.ErrUnsupported,
			"--queue is for backends that run apps on this machine: %s has a scheduler of its own (see torchx runopts %s)", p.Backend, p.Backend)
	}
	p.Plan.Queue = true
	return nil
}

// awaitTurn says what an app in the queue waits for, whenever that changes, and
// returns when it has started or ended. One that is left alone is looked at once.
func (f *Follower) awaitTurn(ctx context.Context) error {
	b, err := f.Runner.Backends.Get(f.Ref.Backend)
	if err != nil {
		return err
	}
	tick := time.NewTicker(queueLook)
	defer tick.Stop()
	for said := ""; ; {
		s, err := b.Describe(ctx, f.Ref.ID)
		if err != nil {
			return fmt.Errorf("see whether %s still waits: %w", f.Ref.Handle(), err)
		}
		if s.State != spec.Pending || !strings.HasPrefix(s.Msg, ui.QueuedMark) {
			return nil
		}
		if s.Msg != said && !f.interrupted() {
			said = s.Msg
			f.Say("%s %s", f.Ref.Handle(), s.Msg)
		}
		if f.quits {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
