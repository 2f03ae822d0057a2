package agent

import (
	"context"
	"errors"
	"time"

	"torchx/runtime/failpoint"
)

// perform carries out what the policy wants: what starts at the same time starts
// as one batch.
func (a *agent) perform(acts []action) {
	var order []time.Duration
	batches := map[time.Duration][]pendingStart{}
	for _, act := range acts {
		if act.stop != nil {
			a.stop(act.stop)
			continue
		}
		if batches[act.delay] == nil {
			order = append(order, act.delay)
		}
		batches[act.delay] = append(batches[act.delay], pendingStart{act.start, act.start.next})
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

// pendingStart is an attempt that was asked for; it may not be wanted any more
// when its time comes.
type pendingStart struct {
	member  *member
	attempt int
}

// start begins a batch and acts on what became of it when all of it is known.
func (a *agent) start(batch []pendingStart) {
	var members []*member
	var starts []Start
	for _, p := range batch {
		if !a.gang.canStart(p.member, p.attempt) {
			continue
		}
		if !a.gang.admit(p.member, a.now()) {
			a.dirty = true
			continue
		}
		members = append(members, p.member)
		starts = append(starts, Start{
			Replica: p.member.key, Attempt: p.attempt, Env: a.env(p.member), Line: a.lineWatch(p.member, p.attempt),
		})
	}
	if len(starts) == 0 {
		return
	}
	var refused error
	for i, s := range a.launch(starts) {
		if s.Err == nil {
			a.began(members[i], starts[i].Attempt, s)
		} else if refused == nil || errors.Is(refused, ErrNotTried) {
			refused = s.Err
		}
	}
	a.dirty = true
	if refused != nil && !errors.Is(refused, ErrNotTried) {
		a.refuse(refused)
		return
	}
	a.perform(a.gang.unblocked(a.now()))
}

// began puts a start on record.
func (a *agent) began(m *member, attempt int, s Started) {
	failpoint.Hit(failpoint.Forked)
	p, now := s.Process, a.clock.at(s.Time)
	a.note(a.starts.append(startRecord{
		Seq: a.nextSeq(), Time: now, Role: m.key.Role, Replica: m.key.ID, Attempt: attempt,
		PID: p.PID, StartTime: p.StartTime, BootID: a.bootID, Cgroup: p.Cgroup, Output: p.Output, Hostname: p.Hostname, ID: p.ID, Engine: p.Engine,
	}))
	failpoint.Hit(failpoint.StartRecorded)
	a.gang.running(m, p, now)
	a.watchReady(m, attempt)
}

// env is what an attempt gets beside the variables of its role.
func (a *agent) env(m *member) []string {
	if a.manifest.Containers {
		return nil
	}
	return append(a.ports.env(a.gang, m), a.deviceEnv(m)...)
}

// launch lets the launcher start a batch and gives up when the agent is told to end.
func (a *agent) launch(starts []Start) []Started {
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	done := make(chan []Started, 1)
	go func() { done <- a.launcher.Start(ctx, starts) }()
	for {
		select {
		case started := <-done:
			return started
		case <-a.signals:
			a.unheard++
			giveUp()
		}
	}
}
