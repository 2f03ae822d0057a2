//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/events"
	"github.com/docker/docker/api/types/filters"
	"golang.org/x/sys/unix"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

const (
	// restartMargin is how long before the engine's new generation its shutdown may have
	// ended a container.
	restartMargin = time.Minute
	// exitCodeUnknown is the exit code of a container if the engine was killed between
	// noticing its end and recording it (seen with live-restore).
	exitCodeUnknown = 255
	// exitCodeKilled is that of a process that SIGKILL ended.
	exitCodeKilled = 128 + int(unix.SIGKILL)
	// podmanDied and podmanRemoved are Podman's names of ActionDie and ActionDestroy.
	podmanDied    = "died"
	podmanRemoved = "remove"
	// oomMargin is how long an engine may take to report that the kernel ran out of memory
	// after it has reported the exit: containerd sends the two as separate events, in any order.
	oomMargin = time.Second
)

// Messages of replicas that ended with their engine.
const (
	engineRestarted = "stopped by engine restart"
	engineKilled    = "unknown exit code: the engine was killed while the container ended"
)

// watch reports the ends of containers. One stream of events serves the whole app. After
// an interruption, listen inspects all containers for ends that it missed.
func (l *launcher) watch() {
	for l.engine.await(l.ctx) == nil {
		l.listen()
		_ = pause(l.ctx) // await returns its error
	}
}

// listen reads one stream of events to its end.
func (l *launcher) listen() {
	ctx, cancel := context.WithCancel(l.ctx)
	defer cancel()
	wanted := filters.NewArgs(filters.Arg("type", string(events.ContainerEventType)), filters.Arg("label", LabelAppID+"="+l.app))
	for _, action := range []events.Action{events.ActionDie, podmanDied, events.ActionDestroy, podmanRemoved, events.ActionOOM, events.ActionPause, events.ActionUnPause, events.ActionHealthStatus} {
		wanted.Add("event", string(action))
	}
	messages, errs := l.engine.Events(ctx, events.ListOptions{Filters: wanted})
	l.checkEnds(nil) // after opening the stream, so that no end is missed
	for {
		select {
		case m := <-messages:
			all := l.runs.matching(m.Actor.ID)
			switch {
			case m.Action == events.ActionOOM:
				for _, r := range all {
					r.oomOnce.Do(func() { close(r.oom) })
				}
			case len(all) > 0:
				go l.checkEnds(&m)
			}
		case err := <-errs:
			if unreachable(err) {
				l.engineLostAt.Store(time.Now().UnixNano())
			} else if err != nil && ctx.Err() == nil {
				l.log.Printf("events: %v", plain(err))
			}
			return // watch opens the next stream
		}
	}
}

// checkEnds reports which containers have ended, and the conditions of others: that of an event,
// or without one all followed ones.
func (l *launcher) checkEnds(m *events.Message) {
	id := ""
	if m != nil {
		id = m.Actor.ID
	}
	for _, r := range l.runs.matching(id) {
		if err := l.checkEnd(r, m); err != nil && l.ctx.Err() == nil {
			l.log.Printf("inspect container of %s/%d: %v", r.replica.Role, r.replica.ID, plain(err))
		}
	}
}

// checkEnd reports the end of a container, if it has ended, or else its condition.
func (l *launcher) checkEnd(r *run, m *events.Message) error {
	r.checking.Lock()
	defer r.checking.Unlock()
	inspected := time.Now()
	c, err := l.engine.inspect(l.ctx, r.id)
	switch {
	case errdefs.IsNotFound(err):
		l.end(r, removedExit(m))
		return nil
	case err != nil:
		return err
	}
	if s := c.State; s.Running || s.Paused || s.Restarting || s.Status == container.StateCreated {
		l.report(r, c)
		return nil
	}
	if c.State.ExitCode == exitCodeKilled && c.HostConfig.Memory > 0 &&
		!c.State.OOMKilled && !r.stopped.Load() {
		c.State.OOMKilled = r.awaitOOM(l.ctx)
	}
	e := exitOf(r, c.State, c.HostConfig)
	if !r.stopped.Load() {
		switch {
		case l.endedWithEngine(r, c.State, inspected, m == nil):
			e.Lost, e.Msg = true, engineRestarted
		case c.State.ExitCode == exitCodeUnknown && l.engineLostAt.Load() > r.startedAt.UnixNano():
			e.Lost, e.Msg = true, engineKilled
		}
	}
	l.saveErrorFile(r, c.Config.Env)
	l.end(r, e)
	return nil
}

// awaitOOM reports whether the engine says within oomMargin that the kernel ran out of memory.
func (r *run) awaitOOM(ctx context.Context) bool {
	select {
	case <-r.oom:
		return true
	case <-time.After(oomMargin):
	case <-ctx.Done():
	}
	return false
}

// end reports an exit, once.
func (l *launcher) end(r *run, e agent.Exit) {
	r.endOnce.Do(func() {
		l.runs.remove(r, true)
		close(r.ended)
		e.Replica, e.Attempt = r.replica, r.attempt
		l.exits <- e
	})
}

// removedExit returns the exit of a removed container.
func removedExit(m *events.Message) agent.Exit {
	e := agent.Exit{Time: time.Now(), Code: spec.ExitNotStarted, Msg: "its container was removed"}
	if m == nil {
		return e
	}
	if code, err := strconv.Atoi(m.Actor.Attributes["exitCode"]); err == nil && code != 0 {
		e.Code, e.Signal = code, spec.SignalName(code)
	}
	return e
}

// exitOf returns the exit of an ended container.
func exitOf(r *run, s *container.State, h *container.HostConfig) agent.Exit {
	e := agent.Exit{Code: s.ExitCode, Signal: spec.SignalName(s.ExitCode), Time: time.Now()}
	if t, err := time.Parse(time.RFC3339Nano, s.FinishedAt); err == nil &&
		t.After(r.startedAt) && t.Before(e.Time) {
		e.Time = t
	}
	switch {
	case s.OOMKilled && h.Memory > 0:
		e.Msg = fmt.Sprintf("out of memory: the kernel killed a process at the limit of %d MB", h.Memory>>20)
	case s.OOMKilled:
		e.Msg = "out of memory: the kernel killed a process"
	case s.Error != "":
		e.Msg = plain(errors.New(s.Error)).Error()
	case s.ExitCode == exitCodeKilled && h.Memory > 0 && !r.stopped.Load():
		// The engine does not report it for a container that ends while it starts.
		e.Msg = fmt.Sprintf("killed, perhaps out of memory at the limit of %d MB", h.Memory>>20)
	}
	return e
}

// endedWithEngine reports whether the container ended because the engine went down. A
// graceful shutdown still reports ends on open streams but accepts no new connections;
// after a crash the next generation ends remaining containers. With live-restore neither
// happens, and the generation stays the same.
func (l *launcher) endedWithEngine(
	r *run, s *container.State, inspected time.Time, missed bool,
) bool {
	now, err := l.engine.generationAfter(l.ctx, inspected)
	if err != nil || now.id == r.generation || r.generation == "" || now.id == "" {
		return false
	}
	if info, err := l.engine.Info(l.ctx); err != nil || info.LiveRestoreEnabled {
		return false
	}
	if !r.adopted || !missed {
		return true
	}
	// No agent watched when it ended: it may have ended long before the engine did.
	finished, err := time.Parse(time.RFC3339Nano, s.FinishedAt)
	return err != nil || s.ExitCode > 128 || finished.After(now.created.Add(-restartMargin))
}
