package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/backends/slurm/job"
	"torchx/runtime/backend"
)

// Queued returns the jobs that Slurm's controller knows: those that wait or run, and for some
// minutes those that ended. Components of heterogeneous jobs and tasks of arrays are jobs of
// their own. It asks for the jobs with these IDs (job.Main), or for all if there are none.
// Errors: ErrUnavailable.
func (c *Client) Queued(ctx context.Context, ids ...int64) ([]job.Job, error) {
	var selection []string
	if len(ids) > 0 {
		selection = append(selection, "--jobs="+join(ids))
	}
	jobs, err := c.queued(ctx, selection...)
	return only(jobs, ids), err // queuedText returns all jobs
}

// QueuedOf returns the jobs of a user that Slurm's controller knows. Errors: ErrUnavailable.
func (c *Client) QueuedOf(ctx context.Context, userName string) ([]job.Job, error) {
	jobs, err := c.queued(ctx, "--user="+userName)
	isOther := func(j job.Job) bool { return j.User != userName }
	return slices.DeleteFunc(jobs, isOther), err // as in Queued
}

func (c *Client) queued(ctx context.Context, selection ...string) ([]job.Job, error) {
	selection = append([]string{"--states=all", "--all"}, selection...)
	args := append([]string{"--noheader", "--Format=" + job.ListingFormat()}, selection...)
	out, err := c.Run(ctx, nil, "squeue", args...)
	if errors.Is(err, backend.ErrNotFound) {
		return nil, nil
	}
	var jobs []job.Job
	if err == nil {
		jobs, err = job.ParseListing(string(out), time.Local)
	}
	if err != nil && !isDefinite(err) { // a version with other rules for its format
		jobs, err = c.queuedText(ctx, err)
	}
	return jobs, err
}

// isDefinite reports whether another command would fail as well.
func isDefinite(err error) bool {
	return errors.Is(err, backend.ErrUnavailable) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// queuedText asks scontrol instead of squeue, which failed.
func (c *Client) queuedText(ctx context.Context, failed error) ([]job.Job, error) {
	out, err := c.Run(ctx, nil, "scontrol", "--oneliner", "--all", "show", "job")
	if err != nil {
		if isDefinite(err) {
			return nil, err
		}
		return nil, failed
	}
	return job.ParseText(string(out), time.Local)
}

// only returns the jobs that belong to the IDs, or all if there are none.
func only(jobs []job.Job, ids []int64) []job.Job {
	if len(ids) == 0 {
		return jobs
	}
	return slices.DeleteFunc(jobs, func(j job.Job) bool { return !slices.Contains(ids, j.Main()) && !slices.Contains(ids, j.ID) })
}

func join(ids []int64) string {
	text := make([]string, len(ids))
	for i, id := range ids {
		text[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(text, ",")
}

// Accounted returns the jobs with these IDs that the accounting has. Errors: ErrNoAccounting,
// ErrUnavailable.
func (c *Client) Accounted(ctx context.Context, ids ...int64) ([]job.Job, error) {
	out, err := c.Run(ctx, nil, "sacct", "--json", "--jobs="+join(ids))
	var jobs []job.Job
	if err == nil {
		jobs, err = job.ParseAccounting(out)
	}
	switch {
	case err == nil && !slices.ContainsFunc(jobs, func(j job.Job) bool { return j.LacksExit() }):
		return only(jobs, ids), nil
	case err != nil && (isDefinite(err) || errors.Is(err, ErrNoAccounting)):
		return nil, err
	}
	text, err := c.accountedText(ctx, "--jobs="+join(ids))
	if err != nil {
		return nil, err
	}
	return only(complete(jobs, text), ids), nil
}

// History returns the jobs of a user that the accounting has since a time, without the details
// that only Accounted has. Errors: as Accounted.
func (c *Client) History(ctx context.Context, userName string, since time.Time) ([]job.Job, error) {
	return c.accountedText(ctx, "--user="+userName,
		"--starttime="+since.Local().Format("2006-01-02T15:04:05"))
}

func (c *Client) accountedText(ctx context.Context, selection ...string) ([]job.Job, error) {
	args := []string{"--parsable2", "--noheader", "--allocations", "--delimiter=" + job.Delimiter, "--format=" + job.AccountingFields}
	out, err := c.Run(ctx, nil, "sacct", append(args, selection...)...)
	if err != nil {
		return nil, err
	}
	jobs := job.ParseAccountingText(string(out), time.Local)
	if len(jobs) == 0 && len(bytes.TrimSpace(out)) > 0 {
		return nil, fmt.Errorf("sacct printed something that torchx cannot read: %.100q", out)
	}
	for i := range jobs {
		jobs[i].KilledBy = userName(jobs[i].KilledBy)
	}
	return jobs, nil
}

// complete adds the exit codes of text to jobs; without jobs, it returns those of text.
func complete(jobs, text []job.Job) []job.Job {
	if len(jobs) == 0 {
		return text
	}
	for i := range jobs {
		if at := slices.IndexFunc(text, func(j job.Job) bool { return j.ID == jobs[i].ID }); at >= 0 && jobs[i].LacksExit() {
			jobs[i].Exit, jobs[i].Derived = text[at].Exit, text[at].Derived
		}
	}
	return jobs
}

// userName returns the name of a user by ID, or the text itself.
func userName(id string) string {
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}
