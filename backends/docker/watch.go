//go:build unix

package docker

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"syscall"
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
	// restartSlack is how long before an engine's new generation the old one may have
	// ended a container: by its shutdown, or when the new one began.
	restartSlack = time.Minute
	// codeUnknown is an engine's code of a container that ended when the engine was
	// killed, between hearing of the end and writing it down (seen with live-restore).
	codeUnknown = 255
)

// Notes of replicas that ended with their engine.
const (
	engineRestarted = "stopped by engine restart"
	engineForgot    = "the engine was killed as it ended, and does not know its exit code"
)

// watch hears of the ends of containers. One stream serves the whole app; what it
// missed, because the engine was away, is asked for when it is back.
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
	messages, errs := l.engine.Events(ctx, events.ListOptions{Filters: filters.NewArgs(
		filters.Arg("type", string(events.ContainerEventType)), filters.Arg("event", string(events.ActionDie)),
		filters.Arg("label", LabelAppID+"="+l.app),
	)})
	l.checkEnds(nil) // the stream is open: nothing is missed from here on
	for {
		select {
		case m := <-messages:
			if len(l.runs.matching(m.Actor.ID)) > 0 {
				go l.checkEnds(&m)
			}
		case err := <-errs:
			if unreachable(err) {
				l.outage.Store(time.Now().UnixNano())
			} else if err != nil && ctx.Err() == nil {
				l.log.Printf("events: %v", plain(err))
			}
			return // the next stream is opened
		}
	}
}

// checkEnds finds out which containers have ended: that of an event, or all that are
// followed.
func (l *launcher) checkEnds(m *events.Message) {
	id := ""
	if m != nil {
		id = m.Actor.ID
	}
	for _, r := range l.runs.matching(id) {
		if err := l.checkEnd(r, m); err != nil && l.ctx.Err() == nil {
			l.log.Printf("look at container of %s/%d: %v", r.replica.Role, r.replica.ID, plain(err))
		}
	}
}

// checkEnd reports the end of a container, if it has ended.
func (l *launcher) checkEnd(r *run, m *events.Message) error {
	before := time.Now()
	c, err := l.engine.inspect(l.ctx, r.id)
	switch {
	case errdefs.IsNotFound(err):
		l.end(r, removedExit(m))
		return nil
	case err != nil:
		return err
	}
	if s := c.State; s.Running || s.Paused || s.Restarting || s.Status == container.StateCreated {
		return nil
	}
	e := exitOf(r, c.State, c.HostConfig)
	if !r.stopped.Load() {
		switch {
		case l.endedWithEngine(r, c.State, before, m == nil):
			e.Lost, e.Msg = true, engineRestarted
		case c.State.ExitCode == codeUnknown && l.outage.Load() > r.began.UnixNano():
			e.Lost, e.Msg = true, engineForgot
		}
	}
	l.saveErrorFile(r, c.Config.Env)
	l.end(r, e)
	return nil
}

// end reports an exit, once.
func (l *launcher) end(r *run, e agent.Exit) {
	r.once.Do(func() {
		l.runs.remove(r, true)
		close(r.ended)
		e.Replica, e.Attempt = r.replica, r.attempt
		l.exits <- e
	})
}

// removedExit is the end of a container that was removed.
func removedExit(m *events.Message) agent.Exit {
	e := agent.Exit{Time: time.Now(), Code: spec.ExitNotStarted, Msg: "its container was removed"}
	if m == nil {
		return e
	}
	if code, err := strconv.Atoi(m.Actor.Attributes["exitCode"]); err == nil && code != 0 {
		e.Code, e.Signal = code, signalName(code)
	}
	return e
}

// exitOf reads the state of a container that has ended.
func exitOf(r *run, s *container.State, h *container.HostConfig) agent.Exit {
	e := agent.Exit{Code: s.ExitCode, Signal: signalName(s.ExitCode), Time: time.Now()}
	if t, err := time.Parse(time.RFC3339Nano, s.FinishedAt); err == nil && t.After(r.began) && t.Before(e.Time) {
		e.Time = t
	}
	switch {
	case s.OOMKilled && h.Memory > 0:
		e.Msg = fmt.Sprintf("out of memory: the kernel killed a process at the limit of %d MB", h.Memory>>20)
	case s.OOMKilled:
		e.Msg = "out of memory: the kernel killed a process"
	case s.Error != "":
		e.Msg = plain(errors.New(s.Error)).Error()
	}
	return e
}

// endedWithEngine reports whether an engine that went down ended the container. A
// graceful shutdown reports the ends on streams that are open, but takes no new
// connections any more; after a crash the next generation ends what it finds. With
// live-restore neither happens, and the generation goes on.
func (l *launcher) endedWithEngine(r *run, s *container.State, seen time.Time, late bool) bool {
	now, err := l.engine.generationAfter(l.ctx, seen)
	if err != nil || now.id == r.generation || r.generation == "" || now.id == "" {
		return false
	}
	if info, err := l.engine.Info(l.ctx); err != nil || info.LiveRestoreEnabled {
		return false
	}
	if !r.adopted || !late {
		return true
	}
	// Nothing watched when it ended: it may have been long before the engine went.
	finished, err := time.Parse(time.RFC3339Nano, s.FinishedAt)
	return err != nil || s.ExitCode > 128 || finished.After(now.created.Add(-restartSlack))
}

// signalName returns the signal that an exit code of a container stands for, "" for a
// plain one.
func signalName(code int) string {
	if code <= 128 || code > 128+64 {
		return ""
	}
	if name := unix.SignalName(syscall.Signal(code - 128)); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", code-128)
}
