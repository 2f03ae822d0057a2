package podarchive

import (
	"context"
	"slices"
	"sync"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/spec"
)

// saveTime is how long saving logs may take, and perLog the additional time for each: 5,000 short
// logs took 11 s on two cores.
const (
	saveTime = 10 * time.Second
	perLog   = 5 * time.Millisecond
)

// SaveTime returns how long saving the logs of n replicas may take.
func SaveTime(n int) time.Duration { return saveTime + time.Duration(n)*perLog }

// Saved is the result of Save and FollowNow.
type Saved struct {
	Missing []spec.Replica // replicas that have run and whose current lines are not completely archived
	Losing  int            // replicas that run, and whose further lines no process archives
}

// Save copies the current lines of all logs until SaveTime is over or ctx is done. Errors:
// backend.ErrNotFound, backend.ErrUnavailable.
func (a *App) Save(ctx context.Context) (Saved, error) {
	running, _, err := a.startedNow(ctx)
	if err != nil {
		return Saved{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, SaveTime(len(running)))
	defer cancel()
	return a.copyNow(ctx, running), nil
}

// startedNow returns the result of started for a current snapshot. Errors: those of Save.
func (a *App) startedNow(
	ctx context.Context,
) (running map[spec.Replica]bool, snap *Snapshot, err error) {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	if snap, err = a.snapshot(ctx); err != nil {
		return nil, nil, err
	}
	return started(snap.Runs), snap, nil
}

// started returns the replicas that have run, and whether they still run.
func started(runs []Run) map[spec.Replica]bool {
	running := map[spec.Replica]bool{}
	for i := range runs {
		if s := runs[i].State; s == logcopy.Running || s == logcopy.Ended {
			running[runs[i].Replica] = running[runs[i].Replica] || s == logcopy.Running
		}
	}
	return running
}

// copyNow copies the current lines of replicas until ctx is done. A replica is true if it runs.
func (a *App) copyNow(ctx context.Context, replicas map[spec.Replica]bool) Saved {
	var s Saved
	var mu sync.Mutex
	var jobs sync.WaitGroup
	for r, running := range replicas {
		c := a.newCollector(r, nil)
		jobs.Go(func() {
			err := c.once(ctx)
			mu.Lock()
			defer mu.Unlock()
			if running && !c.other {
				s.Losing++
			}
			if err != nil {
				s.Missing = append(s.Missing, r)
			}
		})
	}
	jobs.Wait()
	a.saveCursors()
	return s
}

// roundPause is the pause between copies of replicas that wait for a slot. It is at least
// roundFactor times what the last copy took.
const (
	roundPause  = 20 * time.Second
	roundFactor = 10
)

// copyInRounds copies replicas that wait for a slot now and then, until none waits: their pods may
// be deleted before they are followed.
func (f *LogCopier) copyInRounds(ctx context.Context) {
	for pause := f.app.roundPause; f.waits(); {
		if logcopy.Sleep(ctx, nil, pause) != nil {
			return
		}
		began := time.Now()
		f.copyWaiting(ctx)
		pause = max(f.app.roundPause, roundFactor*time.Since(began))
	}
}

// waits reports whether a replica waits for a slot.
func (f *LogCopier) waits() bool {
	return slices.ContainsFunc(f.logs, func(c *collector) bool { return c.slot.waits() })
}

// copyWaiting copies the current lines of the replicas that wait for a slot.
func (f *LogCopier) copyWaiting(ctx context.Context) Saved {
	f.app.mu.Lock()
	snap := f.app.snap
	f.app.mu.Unlock()
	if snap == nil {
		return Saved{}
	}
	running, waiting := started(snap.Runs), map[spec.Replica]bool{}
	for _, c := range f.logs {
		if runs, ok := running[c.replica]; ok && c.slot.waits() {
			waiting[c.replica] = runs
		}
	}
	return f.app.copyNow(ctx, waiting)
}
