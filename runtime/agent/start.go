package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"torchx/runtime/failpoint"
	"torchx/runtime/policy"
)

// perform carries out actions; replicas that start at the same time start as one batch.
func (a *agent) perform(acts []policy.Action) {
	var order []time.Duration
	batches := map[time.Duration][]pendingStart{}
	for _, act := range acts {
		if act.Stop != nil {
			a.stop(act.Stop)
			continue
		}
		if batches[act.Delay] == nil {
			order = append(order, act.Delay)
		}
		batches[act.Delay] = append(batches[act.Delay],
			pendingStart{act.Start, act.Start.NextAttempt})
	}
	for _, delay := range order {
		batch := batches[delay]
		if delay <= 0 {
			a.start(batch)
			continue
		}
		a.after(delay, func() { a.start(batch) })
	}
}

// pendingStart is a requested attempt; it may be unwanted by the time it is due.
type pendingStart struct {
	replica *policy.Replica
	attempt int
}

// start starts a batch and acts on the results when all are known.
func (a *agent) start(batch []pendingStart) {
	var replicas []*policy.Replica
	var starts []Start
	for _, p := range batch {
		if !a.policy.CanStart(p.replica, p.attempt) {
			continue
		}
		if !a.policy.DependenciesMet(p.replica, a.now()) {
			a.reports.dirty = true
			continue
		}
		replicas = append(replicas, p.replica)
		starts = append(starts, Start{
			Replica: p.replica.Key, Attempt: p.attempt, Env: a.env(p.replica, p.attempt), Line: a.lineProbe(p.replica, p.attempt),
		})
	}
	if len(starts) == 0 {
		a.perform(a.policy.EndSidecars(a.now()))
		return
	}
	var refused error
	for i, s := range a.launch(starts) {
		if s.Err == nil {
			a.recordStart(replicas[i], starts[i].Attempt, s)
		} else if refused == nil || errors.Is(refused, ErrNotTried) {
			refused = s.Err
		}
	}
	a.reports.dirty = true
	if refused != nil && !errors.Is(refused, ErrNotTried) {
		a.refuseStart(refused)
		return
	}
	a.perform(a.policy.StartUnblocked(a.now()))
}

// recordStart writes a start to the journal.
func (a *agent) recordStart(r *policy.Replica, attempt int, s Started) {
	failpoint.Hit(failpoint.Forked)
	now := a.record.clock.at(s.Time)
	record := startRecord{
		Seq: a.nextSeq(), Time: now, Role: r.Key.Role, Replica: r.Key.ID, Attempt: attempt, BootID: a.record.bootID, Process: s.Process, Uptime: uptime(),
	}
	a.logError(a.record.starts.append(record))
	failpoint.Hit(failpoint.StartRecorded)
	a.policy.NoteStarted(r, s.Process, now)
	a.sampler.begin(Running{r.Key, attempt, s.Process}, r.Devices, 0)
	a.startProbe(r, attempt)
	a.watchDeadlines(r, record)
}

// env returns the environment of an attempt besides the variables of its role.
func (a *agent) env(r *policy.Replica, attempt int) []string {
	if a.manifest.Containers {
		return nil
	}
	return slices.Concat(a.network.ports.env(a.policy, r), a.deviceEnv(r), a.outputEnv(r),
		a.metricsEnv(r, attempt))
}

// launch starts a batch and aborts it when a signal arrives.
func (a *agent) launch(starts []Start) []Started {
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	done := make(chan []Started, 1)
	go func() { done <- a.launcher.Start(ctx, starts) }()
	for {
		select {
		case started := <-done:
			return started
		case <-a.events.signals:
			a.events.pendingSignals++
			giveUp()
		}
	}
}
