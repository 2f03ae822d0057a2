package slurm

import (
	"context"
	"errors"
	"os"
	"os/user"
	"strconv"
	"time"

	"torchx/backends/slurm/client"
	"torchx/backends/slurm/job"
	"torchx/runtime/backend"
)

// queueAge is how old Slurm's answer about the user's jobs may be. A list of many apps, which
// asks for one after the other, needs one call for all; the load of Slurm's controller grows
// with each call.
const queueAge = time.Second

// Slurm's names for the states of a job that waits and of one that runs.
const (
	statusPending = "PENDING"
	statusRunning = "RUNNING"
)

// queue holds the last answer of Slurm's controller about the jobs of the user.
type queue struct {
	lock chan struct{} // holds one value while no call runs
	age  time.Duration // how old an answer may be
	at   time.Time     // when the answer was asked for, or a failure noticed; zero: there is none
	err  error         // the failure
	all  []job.Job
	jobs map[int64][]job.Job // by Main

	submitted map[int64]time.Time // jobs that this process submitted, since the last forget
}

func newQueue() *queue {
	q := &queue{lock: make(chan struct{}, 1), age: queueAge}
	q.lock <- struct{}{}
	return q
}

// forget makes the next read ask again: the user's jobs have changed.
func (q *queue) forget(ctx context.Context) {
	select {
	case <-q.lock:
		q.at, q.submitted = time.Time{}, nil
		q.lock <- struct{}{}
	case <-ctx.Done():
	}
}

// fail makes the next read, unless it comes late, fail without a call: the controller does not
// answer.
func (q *queue) fail(ctx context.Context, err error) {
	select {
	case <-q.lock:
		q.at, q.err, q.all, q.jobs = time.Now(), err, nil, nil
		q.lock <- struct{}{}
	case <-ctx.Done():
	}
}

// add makes a job that was just submitted known: it waits, and before the next round of Slurm's
// scheduler Slurm gives no reason.
func (q *queue) add(ctx context.Context, id int64) {
	q.forget(ctx)
	select {
	case <-q.lock:
		q.submitted = map[int64]time.Time{id: time.Now()}
		q.lock <- struct{}{}
	case <-ctx.Done():
	}
}

// isNew reports whether a job was submitted so recently that Slurm need not be asked.
func (q *queue) isNew(ctx context.Context, id int64) bool {
	select {
	case <-q.lock:
		at, ok := q.submitted[id]
		q.lock <- struct{}{}
		return ok && time.Since(at) < q.age
	case <-ctx.Done():
		return false
	}
}

// read returns the jobs of the user that Slurm's controller knows, by Main. The caller must not
// change them. Errors: ErrUnavailable.
func (b *Backend) read(ctx context.Context) (all []job.Job, byID map[int64][]job.Job, err error) {
	q := b.queue
	select {
	case <-q.lock:
		defer func() { q.lock <- struct{}{} }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if now := time.Now(); now.Sub(q.at) > q.age {
		all, err := b.slurm.QueuedOf(ctx, userName())
		if ctx.Err() != nil {
			return nil, nil, err
		}
		_, jobs := job.Groups(all)
		q.at, q.err, q.all, q.jobs = now, err, all, jobs
		if err != nil {
			q.at = time.Now() // the next of many apps must not wait in vain, too
		}
	}
	return q.all, q.jobs, q.err
}

// userName returns the name of the user, or the user's number if this machine does not know the
// name: Slurm's commands take both.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// jobsOf returns the jobs with this main ID: those that the controller knows, or else those in
// the accounting. accounted is false if the cluster has none. Errors: ErrUnavailable.
func (b *Backend) jobsOf(
	ctx context.Context, id int64,
) (jobs []job.Job, accounted bool, err error) {
	if b.queue.isNew(ctx, id) {
		return []job.Job{{ID: id, User: userName(), Status: statusPending}}, true, nil
	}
	_, own, err := b.read(ctx)
	if err != nil {
		return nil, false, err
	}
	if jobs = own[id]; len(jobs) > 0 {
		return jobs, true, nil
	}
	return b.accounted(ctx, id)
}

// accounted returns the jobs with this main ID in the accounting.
func (b *Backend) accounted(
	ctx context.Context, id int64,
) (jobs []job.Job, accounted bool, err error) {
	jobs, err = b.slurm.Accounted(ctx, id)
	switch {
	case errors.Is(err, client.ErrNoAccounting):
		return nil, false, nil
	case errors.Is(err, backend.ErrNotFound):
		return nil, true, nil
	}
	return jobs, true, err
}
