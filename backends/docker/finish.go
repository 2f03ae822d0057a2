//go:build unix

package docker

import (
	"context"
	"time"

	"github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"torchx/backends/logcopy"
	"torchx/runtime/spec"
)

const (
	// patience is how long logs that make no progress are waited for when all
	// replicas have ended.
	patience = 30 * time.Second
	// sweepTime bounds the look for containers that nobody has on record.
	sweepTime = 10 * time.Second
)

// Finish ends containers of the app that nobody has on record, and completes the logs.
func (l *launcher) Finish(time.Duration, <-chan struct{}) {
	ctx, cancel := context.WithTimeout(l.ctx, sweepTime)
	l.endUnknown(ctx)
	cancel()
	done := make(chan struct{})
	go func() { l.pumps.Wait(); close(done) }()
	l.awaitLogs(done)
	if l.half.Load() {
		l.clear()
	}
	l.cancel()
	<-done
}

// clear removes the containers of an app that could not start; their logs are archived.
func (l *launcher) clear() {
	ctx, cancel := context.WithTimeout(l.ctx, sweepTime)
	defer cancel()
	if err := removeContainers(ctx, l.engine.Client, l.app); err != nil {
		l.log.Print(err)
	}
}

func (l *launcher) awaitLogs(done <-chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	seen, since := l.progress.Load(), time.Now()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		if now := l.progress.Load(); now != seen {
			seen, since = now, time.Now()
		}
		if time.Since(since) > patience {
			l.log.Print("logs are not complete: the engine does not answer")
			return
		}
	}
}

// endUnknown ends what an agent began and died before it could say so.
func (l *launcher) endUnknown(ctx context.Context) {
	all, err := containersOf(ctx, l.engine.Client, l.app)
	if err != nil {
		l.log.Print(err)
		return
	}
	var kills errgroup.Group
	kills.SetLimit(parallel)
	for _, c := range all {
		if c.State != container.StateRunning && c.State != container.StatePaused {
			continue
		}
		kills.Go(func() error {
			if err := l.send(ctx, c.ID, "SIGKILL"); err != nil {
				l.log.Printf("end container %s: %v", c.ID, plain(err))
			}
			return nil
		})
	}
	_ = kills.Wait() // logged
}

// complete archives the logs of attempts that ended before their agent died and
// are not complete.
func (l *launcher) complete() {
	var all []container.Summary
	err := l.engine.do(l.ctx, func() (err error) {
		all, err = containersOf(l.ctx, l.engine.Client, l.app)
		return err
	})
	if err != nil {
		l.log.Print(err)
		return
	}
	for _, c := range all {
		r, attempt, ok := attemptOf(c.Labels)
		if !ok || c.State == container.StateCreated || l.byKey[r] == nil {
			continue
		}
		if l.copied(r, attempt) {
			continue
		}
		l.pump(&run{replica: r, attempt: attempt, id: c.ID, began: time.Unix(c.Created, 0), ended: make(chan struct{})})
	}
}

// copied reports whether the whole log of an attempt is in the bundle.
func (l *launcher) copied(r spec.Replica, attempt int) bool {
	var c logcopy.OffsetCursor
	return logcopy.ReadCursor(l.layout.ReplicaDir(r, attempt), &c) == nil && c.Done
}

// keptAttempts is how many containers of a replica stay beside the one that runs.
const keptAttempts = 1

// retire removes the container of an attempt that is long over, once its log is
// in the archive.
func (l *launcher) retire(r spec.Replica, attempt int) {
	name := l.byKey[r].Name
	if attempt > 0 {
		name = attemptName(name, attempt)
	}
	if !l.copied(r, attempt) {
		return // it stays until the app is deleted
	}
	c, err := l.engine.ContainerInspect(l.ctx, name)
	if err != nil || c.State.Running || c.Config.Labels[LabelAppID] != l.app {
		return
	}
	l.remove([]made{{id: c.ID, ours: true}})
}
