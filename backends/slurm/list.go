package slurm

import (
	"context"
	"errors"
	"slices"
	"time"

	"torchx/backends/slurm/client"
	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/job"
	"torchx/backends/slurm/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// historyAge is how far back the accounting is asked for jobs that ended.
const historyAge = 30 * 24 * time.Hour

// List returns the apps of the user: those whose folders are here, and all jobs that Slurm and
// its accounting of the last 30 days know, with those of TorchX and of other programs. It makes
// one call of squeue and one of sacct. Errors: ErrUnavailable.
func (b *Backend) List(ctx context.Context) ([]backend.View, error) {
	queued, _, err := b.read(ctx)
	if err != nil {
		return nil, err
	}
	old, err := b.slurm.History(ctx, userName(), time.Now().Add(-historyAge))
	if err != nil && !errors.Is(err, client.ErrNoAccounting) {
		b.warn("the accounting of Slurm is left out: " + err.Error())
	}
	order, groups := job.Groups(join(queued, old))
	dir, err := b.appsDir(ctx, "")
	if err != nil {
		return nil, err
	}
	all, seen := []backend.View{}, map[string]bool{}
	add := func(s backend.View) {
		if !seen[s.ID] {
			seen[s.ID] = true
			all = append(all, s)
		}
	}
	for _, id := range order {
		t := marked(&groups[id][0])
		if t != nil && t.isDeleted(&groups[id][0]) {
			continue
		}
		s, err := b.summary(ctx, t, groups[id], dir)
		if err != nil {
			return nil, err
		}
		add(s)
	}
	own, err := folder.List(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range own {
		if s := b.ownSummary(ctx, f); s != nil {
			add(*s)
		}
	}
	return all, nil
}

// join returns the jobs of both lists; the first one is newer.
func join(newer, older []job.Job) []job.Job {
	known := map[int64]bool{}
	for i := range newer {
		known[newer[i].Main()] = true
	}
	older = slices.DeleteFunc(older, func(j job.Job) bool { return known[j.Main()] })
	return append(slices.Clone(newer), older...)
}

// summary returns the item of jobs that belong together, which torchx submitted as t if that is
// not nil.
func (b *Backend) summary(
	ctx context.Context, t *target, jobs []job.Job, dir string,
) (backend.View, error) {
	switch {
	case t == nil:
		return observe.Summary(jobs), nil
	case t.record == nil:
		s := observe.Summary(jobs)
		s.ID = t.id
		return s, nil
	}
	s, err := b.status(ctx, t)
	if err != nil {
		return backend.View{}, err
	}
	return t.summary(s, !t.folder.IsIn(dir)), nil
}

// ownSummary returns the item of an app by its folder, nil if it cannot be read.
func (b *Backend) ownSummary(ctx context.Context, f folder.Folder) *backend.View {
	r, err := f.Record()
	if err != nil {
		return nil
	}
	t := &target{id: r.ID, folder: f, record: r}
	t.job, _ = f.Job() // 0: it has none
	s, err := b.status(ctx, t)
	if err != nil {
		return nil
	}
	item := t.summary(s, false)
	return &item
}

// summary returns the item of an app with a record.
func (t *target) summary(s *spec.Status, isForeign bool) backend.View {
	r, o := t.record, t.record.Origin()
	v := backend.View{Foreign: isForeign}
	v.ID, v.Name, v.Component, v.Args = t.id, r.App.Name, r.Component, r.Args
	v.State, v.SubmittedAt, v.FinishedAt, v.ExitCode = s.State, s.SubmittedAt, s.FinishedAt, s.ExitCode
	v.ParentRunID, v.RerunOf, v.Note, v.Tags, v.User = o.ParentRunID, o.RerunOf, o.Note, o.Tags, o.User
	return v
}
