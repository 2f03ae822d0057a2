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

// queue holds the last answer of Slurm's controller about the jobs of the user.
type queue struct {
	lock chan struct{} // holds one value while no call runs
	age  time.Duration // how old an answer may be
	at   time.Time     // when the answer was asked for; zero: there is none
	all  []job.Job
	jobs map[int64][]job.Job // by Main
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
		q.at = time.Time{}
		q.lock <- struct{}{}
	case <-ctx.Done():
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
		if err != nil {
			return nil, nil, err
		}
		_, jobs := job.Groups(all)
		q.at, q.all, q.jobs = now, all, jobs
	}
	return q.all, q.jobs, nil
}

// userName returns the name of the user, or the user's number if this machine does not know the name:
// Slurm's commands take both.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return strconv.Itoa(os.Getuid())
}

// jobsOf returns the jobs with this main ID: those that the controller knows, or else those in
// the accounting. accounted is false if the cluster has none. Errors: ErrUnavailable.
func (b *Backend) jobsOf(ctx context.Context, id int64) (jobs []job.Job, accounted bool, err error) {
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
func (b *Backend) accounted(ctx context.Context, id int64) (jobs []job.Job, accounted bool, err error) {
	jobs, err = b.slurm.Accounted(ctx, id)
	switch {
	case errors.Is(err, client.ErrNoAccounting):
		return nil, false, nil
	case errors.Is(err, backend.ErrNotFound):
		return nil, true, nil
	}
	return jobs, true, err
}
