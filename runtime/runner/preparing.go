package runner

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// preparation records the slow steps before an app starts, such as pulling an image, so that other
// commands can say what the app waits for. It is best effort, and delays no step.
type preparation struct {
	runner *Runner
	ref    history.AppKey
	to     backend.Progress // also receives all steps; may be nil

	mu    sync.Mutex
	names []string      // of steps that have not ended, in the order of their begins
	wake  chan struct{} // has room for one
	stop  context.CancelFunc
	done  chan struct{}
}

// recordSteps begins to record the steps of a plan's submission, until close is called.
func (r *Runner) recordSteps(
	ctx context.Context, ref history.AppKey, to backend.Progress,
) *preparation {
	p := &preparation{runner: r, ref: ref, to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	ctx, p.stop = context.WithCancel(ctx)
	go func() {
		defer close(p.done)
		for {
			select {
			case <-p.wake:
				p.record(ctx)
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// tell implements backend.Progress.
func (p *preparation) tell(s backend.Step) {
	p.to.Tell(s)
	if s.Name == "" || s.Warning != "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.names, s.Name)
	switch {
	case s.Ended && at >= 0:
		p.names = slices.Delete(p.names, at, at+1)
	case !s.Ended && at < 0:
		p.names = append(p.names, s.Name)
	default:
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// record stores the current steps. After the last one it stores nothing: the app is about to
// start.
func (p *preparation) record(ctx context.Context) {
	p.mu.Lock()
	names := slices.Clone(p.names)
	p.mu.Unlock()
	if len(names) == 0 {
		return
	}
	text := spec.PreparingMark + names[0]
	if more := len(names) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	_ = p.runner.History.SetStatus(ctx, p.ref.Backend, p.ref.ID,
		&spec.Status{State: spec.Submitted, Msg: text})
}

// close ends the recording. Nothing is stored after it.
func (p *preparation) close() {
	p.stop()
	<-p.done
}
