package slurm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/backends/archive"
	"torchx/backends/slurm/client"
	"torchx/backends/slurm/folder"
	"torchx/backends/slurm/script"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Submit creates the app's folder and calls sbatch once. After a kill at any point, the app has
// at most one job: the folder is created before it, and the job is found by its comment and
// script. Errors: ErrExists, ErrUnavailable, ErrPartLeft, *backend.StartError.
func (b *Backend) Submit(ctx context.Context, p *backend.Plan) error {
	err := b.submit(ctx, p)
	if err == nil {
		return nil
	}
	for _, class := range []error{backend.ErrExists, backend.ErrUnavailable, backend.ErrInvalidOption, backend.ErrPartLeft, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, class) {
			return err
		}
	}
	return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
}

func (b *Backend) submit(ctx context.Context, p *backend.Plan) error {
	req, ok := p.Request.(*script.Request)
	if !ok {
		return fmt.Errorf("not a plan of the slurm backend: %T", p.Request)
	}
	f := folder.Folder(req.Folder)
	if f.Exists() {
		return fmt.Errorf("app %s: %w", p.ID, backend.ErrExists)
	}
	depends, err := b.dependency(ctx, p.After, p.Cfg)
	if err != nil {
		return err
	}
	text, err := b.adapt(ctx, p, req)
	if err != nil {
		return err
	}
	if req.Workspace != nil {
		if err := req.Workspace.Copy(ctx); err != nil {
			return fmt.Errorf("copy the workspace to %s: %w", req.Workspace.Dir, err)
		}
	}
	if path := b.writerPath(filepath.Dir(req.Folder)); path != "" {
		if err := installProgram(b.config.Exe, path); err != nil {
			p.Progress.Tell(backend.Step{Warning: fmt.Sprintf("the logs will have no times: copy torchx to %s: %v", path, err)})
		}
	}
	logs, _ := p.Cfg["archive"].(bool)
	startAgent, forgetAgent, err := archives.Begin(b.config.Home, b.config.Exe, p,
		archive.Info{Roles: archive.RolesOf(p.App), Logs: logs})
	if err != nil {
		return err
	}
	if err := createFolder(f, p, text); err != nil {
		return errors.Join(err, forgetAgent())
	}
	failpoint.Hit(failpoint.FolderCreated)
	id, err := b.sbatch(ctx, req, f, depends)
	if err != nil {
		return errors.Join(b.undo(ctx, p, f, err), forgetAgent())
	}
	failpoint.Hit(failpoint.JobSubmitted)
	if err := startAgent(); err != nil {
		p.Progress.Tell(backend.Step{Warning: fmt.Sprintf("%v; the next command tries again", err)})
	}
	if err := f.SetJob(id); err != nil {
		p.Progress.Tell(backend.Step{Warning: fmt.Sprintf("job %d is submitted, but its ID was not recorded: %v", id, err)})
	}
	return nil
}

// adapt returns the script for the cluster, of which it asks only what matters.
func (b *Backend) adapt(ctx context.Context, p *backend.Plan, req *script.Request) (string, error) {
	gpus, memory := script.NeedsCluster(p.App, p.Cfg)
	var c script.Cluster
	if gpus {
		out, err := b.slurm.Run(ctx, nil, "sbatch", "--version")
		if err != nil {
			return "", err
		}
		if _, err := fmt.Sscanf(string(out), "slurm %d.%d", &c.Major, &c.Minor); err != nil {
			gpus = false // a version that says it otherwise is new
		}
	}
	if memory {
		out, err := b.slurm.Run(ctx, nil, "sinfo", "--noheader", "--format=%P,%m", "--noconvert")
		if err != nil {
			return "", err
		}
		partition, _ := p.Cfg["partition"].(string)
		c.NoMemory = script.NoMemory(string(out), partition)
	}
	return script.Adapt(req.Script, c, gpus, memory), nil
}

// createFolder writes the folder of an app under a temporary name and moves it into place.
func createFolder(f folder.Folder, p *backend.Plan, text string) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, backend.ErrExists) {
			err = fmt.Errorf("create the folder of the app: %w (choose another by -cfg job_dir=FOLDER)", err)
		}
	}()
	raw, err := json.Marshal(p.Request)
	if err != nil {
		return err
	}
	record := folder.Record{
		Version: 1, ID: p.ID, App: p.App, Cfg: p.Cfg, Request: raw, Component: p.Component, Args: p.Args, History: p.Record,
		SubmittedAt: time.Now().UTC(), After: p.After,
	}
	plan, err := json.Marshal(&record)
	if err != nil {
		return err
	}
	parent := filepath.Dir(string(f))
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp) // the rename has moved it
	err = errors.Join(
		safefile.WriteFile(filepath.Join(tmp, folder.PlanFile), plan),
		safefile.WriteFile(filepath.Join(tmp, folder.ScriptFile), []byte(text)),
		os.Mkdir(filepath.Join(tmp, folder.OutputDir), 0o700),
	)
	if err != nil {
		return err
	}
	if err := os.Rename(tmp, string(f)); errors.Is(err, fs.ErrExist) || f.Exists() && err != nil {
		return fmt.Errorf("app %s: %w", p.ID, backend.ErrExists)
	} else if err != nil {
		return err
	}
	return nil
}

// sbatch submits the script and returns the ID of the job.
func (b *Backend) sbatch(
	ctx context.Context, req *script.Request, f folder.Folder, depends []string,
) (int64, error) {
	args := slices.Concat(req.Sbatch[1:], depends, []string{f.Path(folder.ScriptFile)})
	out, err := b.slurm.Run(ctx, nil, req.Sbatch[0], args...)
	if err != nil {
		return 0, err
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(out)), ";") // a cluster may follow
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("sbatch printed %q instead of the ID of a job", out)
	}
	b.queue.add(ctx, id)
	return id, nil
}

// undo removes the folder of an app whose job was refused. If it is not known whether Slurm has
// the job, the app stays, cancelled: its script then ends at once.
func (b *Backend) undo(ctx context.Context, p *backend.Plan, f folder.Folder, failed error) error {
	if client.IsUnsent(failed) && errors.Is(failed, backend.ErrUnavailable) {
		b.queue.fail(ctx, failed)
	}
	certain := client.IsUnsent(failed) ||
		!errors.Is(failed, backend.ErrUnavailable) && ctx.Err() == nil
	if !certain {
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
		defer cancel()
		b.queue.forget(cleanup)
		jobs, _, err := b.read(cleanup)
		found := findMarked(p.ID, jobs)
		switch {
		case err == nil && found == nil:
			certain = true
		case err == nil:
			if b.slurm.Cancel(cleanup, found.job) == nil {
				certain = true
			}
		}
	}
	if !certain {
		if err := f.Cancel("its submission failed"); err != nil {
			return backend.Errorf(backend.ErrPartLeft,
				"%w; whether Slurm has the job is not known: run `scancel --name=%s`", failed, p.ID)
		}
		return fmt.Errorf("%w; if Slurm has the job nevertheless, it ends when it starts", failed)
	}
	if err := os.RemoveAll(string(f)); err != nil {
		return errors.Join(failed, err)
	}
	return failed
}

// undoTime bounds the removal of a job whose submission failed.
const undoTime = 20 * time.Second
