package slurm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"torchx/backends/slurm/client"
	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/job"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// target is an app, as far as this machine can tell: with its record if its folder is here, with
// its jobs if Slurm found it.
type target struct {
	id     string
	folder folder.Folder  // "" if torchx did not submit it
	record *folder.Record // nil if the folder is not on this machine
	job    int64          // 0: it has no job yet
	jobs   []job.Job      // only of an app without a record
}

// find returns the app with an ID: that of torchx or, for jobs of others, that of Slurm. An app
// of another home is found by its jobs. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) find(ctx context.Context, id string) (*target, error) {
	f, err := b.folderOf(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &target{id: id, folder: f}
	if t.record, err = f.Record(); err == nil {
		err = b.findJob(ctx, t)
		return t, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if n, ok := job.ParseID(id); ok {
		return b.findNumber(ctx, id, n)
	}
	all, _, err := b.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("app %s is not in this TORCHX_HOME: %w", id, err)
	}
	if t := findMarked(id, all); t != nil {
		return t, nil
	}
	old, err := b.slurm.History(ctx, userName(), time.Now().Add(-historyAge))
	if err != nil && !errors.Is(err, client.ErrNoAccounting) {
		return nil, err
	}
	if t := findMarked(id, old); t != nil {
		return t, nil
	}
	return nil, notFound(id)
}

func notFound(id string) error {
	return backend.Errorf(backend.ErrNotFound,
		"Slurm has no app %s, and no folder of it is on this machine", id)
}

// findJob sets the job of an app whose folder is here. If the submission ended before it could
// record the job, Slurm may have it.
func (b *Backend) findJob(ctx context.Context, t *target) error {
	var ok bool
	if t.job, ok = t.folder.Job(); ok {
		return nil
	}
	all, _, err := b.read(ctx)
	if err != nil {
		return err
	}
	if found := findMarked(t.id, all); found != nil && found.folder == t.folder {
		t.job = found.job
	}
	return nil
}

// findNumber returns the app of a job by its number.
func (b *Backend) findNumber(ctx context.Context, id string, n int64) (*target, error) {
	jobs, err := b.slurm.Queued(ctx, n)
	if err == nil && len(jobs) == 0 {
		jobs, _, err = b.accounted(ctx, n)
	}
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, notFound(id)
	}
	if t := marked(&jobs[0]); t != nil && t.record != nil {
		t.id = id
		return t, nil
	}
	return &target{id: id, job: jobs[0].Main(), jobs: jobs}, nil
}

// findMarked returns the app with an ID among jobs, nil if there is none.
func findMarked(id string, jobs []job.Job) *target {
	for i := range jobs {
		if t := marked(&jobs[i]); t != nil && t.id == id && !t.isDeleted(&jobs[i]) {
			if t.record == nil {
				_, groups := job.Groups(jobs)
				t.jobs = groups[t.job]
			}
			return t
		}
	}
	return nil
}

// marked returns the app that a job belongs to, nil if torchx did not submit it for this user.
// Its comment tells the folder, or the path of its script.
func marked(j *job.Job) *target {
	if j.User != userName() {
		return nil // what it says is not to be trusted
	}
	f, ok := folder.ParseComment(j.Comment)
	if !ok && filepath.Base(j.Command) == folder.ScriptFile {
		f, ok = folder.Folder(filepath.Dir(j.Command)), true
	}
	if !ok {
		return nil
	}
	t := &target{folder: f, job: j.Main(), id: filepath.Base(string(f))}
	r, err := f.Record()
	switch {
	case err == nil:
		t.record, t.id = r, r.ID
	case !spec.ValidAppID(t.id):
		return nil
	}
	return t
}

// isDeleted reports whether torchx deleted the app of a job, which Slurm forgets later. A script
// that was submitted by hand has no folder before it begins.
func (t *target) isDeleted(j *job.Job) bool {
	return t.record == nil && j.State() != spec.Pending && t.folder.Deleted()
}
