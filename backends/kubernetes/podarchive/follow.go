package podarchive

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/spec"
)

// LogCopier copies all logs of an app as they grow, until End.
type LogCopier struct {
	app        *App
	unwatch    func()
	logs       []*collector
	releases   []func()
	rounds     sync.WaitGroup // of replicas that wait for a slot
	stopRounds context.CancelFunc
}

// Follow begins to copy the logs of all replicas in a status of the app.
func (a *App) Follow(s *spec.Status) *LogCopier {
	f := a.follow(s)
	f.beginRounds()
	return f
}

// follow is Follow without the copies of replicas that wait for a slot.
func (a *App) follow(s *spec.Status) *LogCopier {
	f := &LogCopier{app: a, unwatch: a.watch()}
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			c, release := a.collect(spec.Replica{Role: s.Roles[i].Role, ID: s.Roles[i].Replicas[j].ID}, a.following.request())
			f.logs, f.releases = append(f.logs, c), append(f.releases, release)
		}
	}
	return f
}

func (f *LogCopier) beginRounds() {
	var ctx context.Context
	ctx, f.stopRounds = context.WithCancel(context.Background())
	f.rounds.Go(func() { f.copyInRounds(ctx) })
}

// Len returns the number of replicas.
func (f *LogCopier) Len() int { return len(f.logs) }

// followEvery is the interval at which FollowNow checks whether streams are open.
const followEvery = 20 * time.Millisecond

// FollowNow is Follow for all replicas that run now. It returns when their logs are open, or
// when SaveTime is over or ctx is done. The logs of replicas that wait for a slot are copied up to
// now. Errors: those of Save.
func (a *App) FollowNow(ctx context.Context) (*LogCopier, Saved, error) {
	running, snap, err := a.startedNow(ctx)
	if err != nil {
		return nil, Saved{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, SaveTime(len(running)))
	defer cancel()
	f := a.follow(snap.Status)
	saved := f.copyWaiting(ctx)
	f.beginRounds() // not before: a round would hold locks of this copy
	for !a.follows(f, running) {
		if logcopy.Sleep(ctx, nil, followEvery) != nil {
			break
		}
	}
	return f, saved, nil
}

// follows reports whether the logs of all running replicas are open, left to another process, or
// wait for a slot.
func (a *App) follows(f *LogCopier, running map[spec.Replica]bool) bool {
	for _, c := range f.logs {
		a.mu.Lock()
		open := a.followed[c.replica]
		a.mu.Unlock()
		if running[c.replica] && !open && !c.isDone() && !c.waits.Load() && !c.slot.waits() {
			return false
		}
	}
	return true
}

// End waits until all lines of an ended app are copied, or ctx is done, and stops copying. It
// returns the replicas whose logs are incomplete, and the known reasons. Logs that another
// process copies are left to that process.
func (f *LogCopier) End(ctx context.Context) (missing []spec.Replica, err error) {
	for _, l := range f.logs {
		complete := l.settle(ctx)
		failure := l.failure()
		if !complete || failure != nil {
			missing, err = append(missing, l.replica), errors.Join(err, failure)
		}
	}
	f.close()
	return missing, err
}

// settle waits until all lines are copied, or another process copies them. It returns false
// if ctx is done before.
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

func (f *LogCopier) close() {
	f.stopRounds()
	f.rounds.Wait()
	var jobs sync.WaitGroup
	for _, release := range f.releases {
		jobs.Go(release)
	}
	jobs.Wait()
	f.unwatch()
}

// isDone reports whether all logs are complete, or have failed.
func (f *LogCopier) isDone() bool {
	return !slices.ContainsFunc(f.logs, func(c *collector) bool { return !c.isDone() })
}
