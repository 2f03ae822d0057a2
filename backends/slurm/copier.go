package slurm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/backends/logcopy"
	"torchx/backends/slurm/folder"
	"torchx/runtime/logstore"
	"torchx/runtime/spec"
)

const (
	// copiedLogs bounds the logs that are copied concurrently.
	copiedLogs = 8
	// giveUp is how long a shared file system may fail before a pass returns the error.
	giveUp = 10 * time.Second
)

// copier copies the logs of an app, or of one replica, pass by pass.
type copier struct {
	dir  string        // the archive
	from folder.Folder // of the app
	app  *spec.App
	only *spec.Replica // nil: all

	done sync.Map // folders of complete copies
}

// pass copies the lines that the logs have and their copies lack. It reports whether all copies are
// complete; they are not while the app runs, or while another process copies.
func (c *copier) pass(ctx context.Context, ended bool) (complete bool, err error) {
	all := map[spec.Replica][]folder.Attempt{}
	if c.only != nil {
		all[*c.only], err = c.from.AttemptsOf(*c.only)
	} else {
		var run *folder.Run
		if run, err = c.from.Run(c.app); err == nil {
			all = run.Replicas
		}
	}
	if err != nil {
		return false, err
	}
	var jobs errgroup.Group
	jobs.SetLimit(copiedLogs)
	var mu sync.Mutex
	complete = ended
	for r, attempts := range all {
		jobs.Go(func() error {
			ok, err := c.replica(ctx, r, attempts, ended)
			mu.Lock()
			defer mu.Unlock()
			complete = complete && ok
			return err
		})
	}
	err = jobs.Wait()
	return complete && err == nil, err
}

// replica copies the logs of all attempts of a replica, unless another process does.
func (c *copier) replica(
	ctx context.Context, r spec.Replica, attempts []folder.Attempt, ended bool,
) (complete bool, err error) {
	to := func(a folder.Attempt) string { return logstore.AttemptDir(c.dir, r, a.Number) }
	attempts = slices.DeleteFunc(attempts, func(a folder.Attempt) bool { return c.isDone(to(a)) })
	if len(attempts) == 0 {
		return true, nil
	}
	lock, err := logcopy.TryLock(logstore.ReplicaDir(c.dir, r))
	if err != nil || lock == nil {
		return false, err
	}
	defer lock.Close()
	complete = true
	for _, a := range attempts {
		done, err := copyLog(ctx, c.from.Attempt(r, a.Number), to(a), ended || a.Exit != nil)
		if err != nil {
			return false, fmt.Errorf("archive the log of %s/%d: %w", r.Role, r.ID, err)
		}
		complete = complete && done
	}
	return complete, nil
}

// isDone reports whether a copy is complete.
func (c *copier) isDone(dir string) bool {
	_, known := c.done.Load(dir)
	if !known && logcopy.IsComplete(dir) {
		c.done.Store(dir, true)
		known = true
	}
	return known
}

// copyLog appends to the log in folder to what it lacks of that in from, which is complete if the
// attempt has ended.
func copyLog(ctx context.Context, from, to string, ended bool) (done bool, err error) {
	l, err := logcopy.OpenLog(to)
	if err != nil {
		return false, err
	}
	var cursor logcopy.OffsetCursor
	_ = logcopy.ReadCursor(to, &cursor) // without it everything is read again and known lines are skipped
	at := logcopy.NewOffsetPosition(cursor)
	l.Save = func() error { return logcopy.WriteCursor(to, at.Cursor) }
	done, err = logcopy.Copy(ctx, &logSource{from, ended}, l, at, logcopy.Mode{
		GiveUpAfter: giveUp, GapGone: "gap: the folder of the app was removed",
		Timing: logcopy.Timing{Backoff: 50 * time.Millisecond, MaxBackoff: time.Second, ResetAfter: time.Hour},
	})
	return done, errors.Join(err, l.Close())
}
