package archive

import (
	"context"
	"errors"
	"sync"
	"time"

	"torchx/runtime/spec"
)

// Following is an app all of whose logs are copied as they come, until End.
type Following struct {
	unwatch func()
	logs    []following
}

type following struct {
	*collector
	release func()
}

// Follow begins to copy the logs of all replicas that a status of the app names.
func (a *App) Follow(s *spec.Status) *Following {
	f := &Following{unwatch: a.watch()}
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			c, release := a.collect(spec.Replica{Role: s.Roles[i].Role, ID: s.Roles[i].Replicas[j].ID}, true)
			f.logs = append(f.logs, following{c, release})
		}
	}
	return f
}

// End waits until all that an app which has ended has written is copied, or until ctx
// ends, and copies no more. It returns the replicas whose logs are not whole, and why,
// as far as that is known. What another process copies is left to that one.
func (f *Following) End(ctx context.Context) (missing []spec.Replica, err error) {
	for _, l := range f.logs {
		whole := l.settle(ctx)
		failure := l.failure()
		if !whole || failure != nil {
			missing, err = append(missing, l.replica), errors.Join(err, failure)
		}
	}
	f.close()
	return missing, err
}

// settle waits until all is copied, or another process turns out to do it; it tells
// whether that was before the end of ctx.
func (c *collector) settle(ctx context.Context) bool {
	tick := time.NewTicker(lockEvery)
	defer tick.Stop()
	for !c.waits.Load() {
		select {
		case <-c.done:
			return true
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// close gives the logs back.
func (f *Following) close() {
	var jobs sync.WaitGroup
	for _, l := range f.logs {
		jobs.Go(l.release)
	}
	jobs.Wait()
	f.unwatch()
}

// await returns when all logs are whole, also those that another process copies now,
// or when ctx ends; it tells of logs that are not.
func (f *Following) await(ctx context.Context, tell func(format string, args ...any)) {
	for _, l := range f.logs {
		select {
		case <-l.done:
		case <-ctx.Done():
		}
		if err := l.failure(); err != nil {
			tell("log of %s/%d: %v", l.replica.Role, l.replica.ID, err)
		}
	}
	f.close()
}

// Followed tells whether an agent follows the app of an archive, or is about to.
func Followed(dir string) bool {
	i, err := ReadInfo(dir)
	return err == nil && i.Agent && !i.Done
}
