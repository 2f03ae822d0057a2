package agent

import (
	"errors"
	"fmt"
	"time"

	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// resume continues where a former agent of the bundle stopped: it brings the policy to the
// journal's state, adopts replicas that are recorded as running and performs pending
// actions. After a kill at any point the journal says the same or more, so the next agent
// does the same again.
func (a *agent) resume() {
	a.reports.dirty = true
	pending, err := a.replay()
	if err != nil {
		a.logError(err)
		a.ending.detached = true // the state is unknown: the next command tries again
		return
	}
	if a.record.seq == 0 && len(a.manifest.After) > 0 {
		a.begin() // the former agent may still have waited
		return
	}
	a.logError(a.restoreOutput())
	a.adopt()
	cancel, force := a.bundle.cancelRequested()
	a.ending.killNow = force
	for _, r := range a.policy.Replicas {
		if r.Stopping && r.State == spec.Running {
			a.stop(r)
		}
	}
	if msg := a.bundle.recordedDeadline(a.manifest); msg != "" {
		a.perform(a.policy.ExceedDeadline(msg, a.now()))
	}
	if cancel {
		a.perform(a.policy.Cancel(a.now()))
	}
	a.perform(pending)
}

// replay returns the pending starts.
func (a *agent) replay() ([]policy.Action, error) {
	starts, err := readLines[startRecord](a.bundle.path(startsFile))
	exits, err2 := readLines[exitRecord](a.bundle.path(exitsFile))
	if err := errors.Join(err, err2); err != nil {
		return nil, fmt.Errorf("adopt: %w", err)
	}
	due := map[*policy.Replica]time.Time{}
	replayInto(a.policy, a.manifest.SubmittedAt, starts, exits, func(acts []policy.Action, at time.Time) {
		for _, act := range acts {
			if act.Start != nil {
				due[act.Start] = at.Add(act.Delay)
			}
		}
		a.policy.NoteBlocked(acts, at)
	})
	a.record.seq = lastSeq(starts, exits)
	a.record.clock = clock{last: latest(a.manifest, starts, exits)}
	a.resumeDeadlines(starts)
	for _, r := range a.policy.Replicas {
		if r.ExitCode != nil {
			r.ErrorFile = a.launcher.ErrorFile(r.Key, r.Attempt)
		}
	}
	var pending []policy.Action
	now := a.now() // the same for all, so that replicas still start together
	for _, r := range a.policy.Replicas {
		if r.State == spec.Pending {
			pending = append(pending, policy.Action{Start: r, Delay: max(0, due[r].Sub(now))})
		}
	}
	return pending, nil
}

// lastSeq is the number of the last record in both journals.
func lastSeq(starts []startRecord, exits []exitRecord) (last int) {
	for _, start := range starts {
		last = max(last, start.Seq)
	}
	for _, exit := range exits {
		last = max(last, exit.Seq)
	}
	return last
}

// adopt passes the running replicas to the launcher.
func (a *agent) adopt() {
	adopter, ok := a.launcher.(Adopter)
	if !ok {
		return
	}
	var running []Adoption
	for _, r := range a.policy.Replicas {
		if r.State == spec.Running {
			a.startProbe(r, r.Attempt)
			a.sampler.begin(Running{r.Key, r.Attempt, r.Process}, r.Devices,
				max(time.Second, a.now().Sub(*r.StartedAt)))
			running = append(running, Adoption{Replica: r.Key, Attempt: r.Attempt, Process: r.Process, Time: *r.StartedAt, Line: a.lineProbe(r, r.Attempt)})
		}
	}
	adopter.Adopt(running)
}

// detach ends the agent but not the app: the next command starts another agent.
func (a *agent) detach() error {
	a.publish(true)
	a.sampler.close()
	err := errors.Join(a.record.exits.Close(), a.record.starts.Close())
	a.reports.recorder.close()
	return err
}

// isAdoptable reports whether an agent of containers has started. If it dies, another agent
// continues, and no other process decides on the app's result.
func (b Bundle) isAdoptable() bool {
	m, err := b.Manifest()
	if err != nil || !m.Containers {
		return false
	}
	h, err := readHolder(b.path(lockFile))
	return err == nil && h.PID != 0
}
