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

	"torchx/runtime/agent"
)

// restartSlack is how long before an engine's new life the old one may have
// ended a container: by its shutdown, or when the new one began.
const restartSlack = time.Minute

// engineRestarted is the note of a replica that its engine took along.
const engineRestarted = "stopped by engine restart"

// codeUnknown is what an engine says of a container that ended when it was killed
// itself, between hearing of the end and writing it down (seen with live-restore).
const codeUnknown = 255

// engineForgot is the note of a replica whose exit code nobody knows.
const engineForgot = "the engine was killed as it ended, and does not know its exit code"

// watch hears of the ends of containers. One stream serves the whole app; what it
// missed, because the engine was away, is asked for when it is back.
func (l *launcher) watch() {
	for l.ctx.Err() == nil {
		if l.engine.await(l.ctx) != nil {
			return
		}
		l.listen()
		select {
		case <-l.ctx.Done():
		case <-time.After(comeback):
		}
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
	l.settle(nil) // the stream is open: nothing is missed from here on
	for {
		select {
		case m := <-messages:
			if r := l.runOf(m.Actor.ID); r != nil {
				go l.settle(&m)
			}
		case err := <-errs:
			if unreachable(err) {
				l.outage.Store(time.Now().UnixNano())
			}
			if err != nil && !unreachable(err) && ctx.Err() == nil {
				l.log.Printf("events: %v", plain(err))
			}
			return // the next stream is opened
		}
	}
}

// settle finds out which containers have ended: the one that an event names, or
// all that are followed.
func (l *launcher) settle(m *events.Message) {
	l.mu.Lock()
	var runs []*run
	for id, r := range l.running {
		if m == nil || m.Actor.ID == id {
			runs = append(runs, r)
		}
	}
	l.mu.Unlock()
	for _, r := range runs {
		if err := l.look(r, m); err != nil && l.ctx.Err() == nil {
			l.log.Printf("look at container of %s/%d: %v", r.replica.Role, r.replica.ID, plain(err))
		}
	}
}

// look reports the end of a container, if it has ended.
func (l *launcher) look(r *run, m *events.Message) error {
	before := time.Now()
	var c container.InspectResponse
	err := l.engine.do(l.ctx, func() (err error) {
		c, err = l.engine.ContainerInspect(l.ctx, r.id)
		return err
	})
	switch {
	case errdefs.IsNotFound(err):
		l.end(r, removed(m))
		return nil
	case err != nil:
		return err
	}
	if s := c.State; s.Running || s.Paused || s.Restarting || s.Status == container.StateCreated {
		return nil
	}
	e := exitOf(r, c.State, c.HostConfig)
	if !r.told.Load() {
		switch {
		case l.lostWith(r, c.State, before, m == nil):
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
		l.mu.Lock()
		delete(l.running, r.id)
		l.mu.Unlock()
		close(r.ended)
		e.Replica, e.Attempt = r.replica, r.attempt
		l.exits <- e
	})
}

// removed is the end of a container that somebody removed.
func removed(m *events.Message) agent.Exit {
	e := agent.Exit{Time: time.Now(), Code: codeOther, Msg: "its container was removed"}
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

// lostWith reports whether an engine that went down ended the container. A
// graceful shutdown tells of the ends on streams that are open, but takes no new
// connections any more; after a crash the next life ends what it finds. With
// live-restore neither happens, and the life goes on.
func (l *launcher) lostWith(r *run, s *container.State, seen time.Time, late bool) bool {
	now, err := l.engine.lifeAfter(l.ctx, seen)
	if err != nil || now.id == r.life || r.life == "" || now.id == "" {
		return false
	}
	if info, err := l.engine.Info(l.ctx); err != nil || info.LiveRestoreEnabled {
		return false
	}
	if !r.adopted || !late {
		return true
	}
	// Nobody watched when it ended: it may have been long before the engine went.
	finished, err := time.Parse(time.RFC3339Nano, s.FinishedAt)
	return err != nil || s.ExitCode > 128 || finished.After(now.created.Add(-restartSlack))
}
