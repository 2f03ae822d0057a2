package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"torchx/backends/slurm/job"
	"torchx/backends/slurm/observe"
	"torchx/runtime/backend"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Describe returns the status of an app: what the launcher recorded in its folder, and what Slurm
// says of its job, in one call for all jobs of the user. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Describe(ctx context.Context, id string) (*spec.Status, error) {
	t, err := b.find(ctx, id)
	if err != nil {
		return nil, err
	}
	s, err := b.status(ctx, t)
	if err != nil {
		return nil, err
	}
	b.Notify(id, observe.WithoutEstimate(s)) // each change would be announced
	return s, nil
}

// status returns the status of an app that was found.
func (b *Backend) status(ctx context.Context, t *target) (*spec.Status, error) {
	s, err := b.statusOf(ctx, t)
	if err == nil {
		s.Handle = handleOf(t.id)
	}
	return s, err
}

func (b *Backend) statusOf(ctx context.Context, t *target) (*spec.Status, error) {
	if t.record == nil {
		s := observe.Foreign(t.jobs)
		if k := b.FindLogs(t.id, nil, "", nil); k != nil {
			s.Roles = copiedRoles(k, s)
		}
		if t.folder != "" && s.Msg == "" {
			s.Msg = t.hint()
		}
		return s, nil
	}
	o := &observe.Observation{App: t.record.App, Submitted: t.record.SubmittedAt, JobID: t.job, Cancelled: t.folder.Cancelled(), CancelReason: t.folder.CancelReason(), ErrorFile: t.errorFile, Messages: sync.OnceValue(t.folder.Messages)}
	o.After, o.Unmet = afterTexts(t.record.After)
	var err error
	if o.Run, err = t.folder.Run(o.App); err != nil {
		return nil, err
	}
	if o.Run.End == nil {
		if err := b.addJobs(ctx, t, o); err != nil {
			return nil, err
		}
	}
	s := o.Status()
	url := "file://" + string(t.folder)
	s.UIURL = &url
	return s, nil
}

// copiedRoles returns the roles of an app whose logs are copied, though its folder is not on this
// machine: Slurm knows only the job, under its own name. What Slurm knows of the only replica is
// kept.
func copiedRoles(k *backend.RetainedLogs, s *spec.Status) (roles []spec.RoleStatus) {
	known := spec.ReplicaStatus{State: s.State}
	if len(k.Roles) == 1 && len(k.Roles[0].Attempts) == 1 && len(s.Roles) == 1 &&
		len(s.Roles[0].Replicas) == 1 {
		known = s.Roles[0].Replicas[0]
	}
	for _, kept := range k.Roles {
		role := spec.RoleStatus{Role: kept.Role, Replicas: []spec.ReplicaStatus{}}
		for id, attempts := range kept.Attempts {
			r := known
			r.Role, r.ID, r.Attempt = kept.Role, id, max(0, attempts-1)
			role.Replicas = append(role.Replicas, r)
		}
		roles = append(roles, role)
	}
	return roles
}

// addJobs adds Slurm's jobs to an app that had not ended when its folder was read.
func (b *Backend) addJobs(ctx context.Context, t *target, o *observe.Observation) error {
	if t.job == 0 {
		return backend.Errorf(backend.ErrNotFound,
			"app %s has no job: its submission did not end", t.id)
	}
	jobs, accounted, err := b.jobsOf(ctx, t.job)
	if n := len(o.Run.Begins); n > 0 && errors.Is(err, backend.ErrUnavailable) && !b.config.Offline {
		o.Unreachable = err // the launcher's records are on this machine
		o.Jobs = []job.Job{{ID: t.job, Status: statusRunning, Restarts: o.Run.Begins[n-1].Restart}}
		return nil
	}
	if err != nil {
		return err
	}
	o.Jobs, o.NotAccounted = jobs, !accounted
	if !o.Cancelled && len(jobs) > 0 && job.StateOf(jobs) == spec.Cancelled {
		o.Jobs = b.whoCanceled(ctx, t.job, jobs)
	}
	if len(jobs) == 0 || job.StateOf(jobs).Terminal() {
		o.Run, err = t.folder.Run(o.App) // the launcher may have recorded its end meanwhile
	}
	return err
}

// whoCanceled adds who canceled the jobs, which only the accounting knows.
func (b *Backend) whoCanceled(ctx context.Context, id int64, jobs []job.Job) []job.Job {
	known, _, err := b.accounted(ctx, id)
	if err != nil {
		return jobs // it stays unknown
	}
	jobs = slices.Clone(jobs)
	for i := range jobs {
		at := slices.IndexFunc(known, func(j job.Job) bool { return j.ID == jobs[i].ID })
		if at >= 0 && jobs[i].KilledBy == "" {
			jobs[i].KilledBy = known[at].KilledBy
		}
	}
	return jobs
}

// hint tells how to see more of an app whose folder is not on this machine.
func (t *target) hint() string {
	return fmt.Sprintf("its folder %s is not on this machine: use a login node that has it", t.folder)
}

// maxErrorFile bounds the size of an error file, as in package agent.
const maxErrorFile = 1 << 20

// errorFile returns the error file of an attempt, as JSON; nil if there is none.
func (t *target) errorFile(r spec.Replica, attempt int) json.RawMessage {
	return readErrorFile(t.folder.ErrorPath(r, attempt))
}

func readErrorFile(path string) json.RawMessage {
	data, err := safefile.ReadFile(path, maxErrorFile)
	if err != nil || len(data) == 0 {
		return nil
	}
	if json.Valid(data) {
		return data
	}
	text, err := json.Marshal(string(data))
	if err != nil {
		return nil
	}
	return text
}

// Submission returns what was submitted: the plan in the app's folder, or what the jobs of
// TorchX and of other programs show. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Submission(ctx context.Context, id string) (*backend.Submission, error) {
	t, err := b.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.record == nil {
		return &backend.Submission{App: observe.App(t.jobs), Partial: true}, nil
	}
	r, o := t.record, t.record.Origin()
	return &backend.Submission{
		App: r.App, Cfg: r.Cfg, Component: r.Component, Args: r.Args,
		ParentRunID: o.ParentRunID, RerunOf: o.RerunOf, Labels: o.Labels,
	}, nil
}
