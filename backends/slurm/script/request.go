// Package script plans apps for Slurm: an app as one batch script, which is also the launcher
// inside the allocation. It is pure: it runs nothing and reads no file but those of a workspace.
//
//	Plan    app and options ──► Request: the folder of the app and the script
//	Adapt     the script for the cluster that answers: how it counts GPUs, whether it knows memory
//
// The script has a component per role, separated by `#SBATCH hetjob`: its replicas are the tasks
// of one srun. TorchX makes a component per replica, each of which is a job for Slurm's scheduler.
package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Request is the plan that Submit executes. By hand: save the script, and run sbatch with it.
type Request struct {
	AppID  string `json:"app_id"`
	Folder string `json:"folder"` // of the app, created by Submit or by the script
	// Workdir is the folder in which replicas run, on the shared file system.
	Workdir   string     `json:"workdir"`
	Workspace *Workspace `json:"workspace,omitempty"` // to be copied; nil: none
	Sbatch    []string   `json:"sbatch"`              // the command without the script
	Script    string     `json:"script"`
}

// Workspace is the copy of a project.
type Workspace struct {
	Dir      string            `json:"dir"` // of the copy, named by its content
	Projects map[string]string `json:"projects"`
	Tree     *workspace.Tree   `json:"-"`
}

// Input is what a plan depends on.
type Input struct {
	backend.PlanInput
	Base   string // absolute folder of the folders of apps
	Handle string // of the app
	Writer string // path of this program for the nodes, which writes logs; "": none
}

// Sbatch is the command that submits a script.
var sbatch = []string{"sbatch", "--parsable"}

// FolderOf returns the folder of an app.
func FolderOf(base, id string) string { return filepath.Join(base, safefile.Escape(id)) }

// maxName bounds an app ID, which is the name of the job.
const maxName = 200

// checkID refuses an app ID that cannot be the name of a job.
func checkID(id string) error {
	if id == "" || len(id) > maxName || safefile.Escape(id) != id {
		return fmt.Errorf("app id %q cannot be the name of a job: use letters, digits, '-', '_' and '.', at most %d", id, maxName)
	}
	if _, err := strconv.ParseInt(id, 10, 64); err == nil {
		return fmt.Errorf("app id %q is a number, as IDs of jobs are: use a name", id)
	}
	return nil
}

// Plan returns a plan. Errors: backend.ErrInvalidOption, or one that describes a mistake in the
// app.
func Plan(ctx context.Context, in Input) (*backend.Plan, error) {
	o, err := ReadOptions(in.Cfg, in.Cwd)
	if err == nil {
		err = checkID(in.ID)
	}
	if err != nil {
		return nil, err
	}
	p := &backend.Plan{ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Launch: backend.Launch{Progress: in.Progress}}
	req := &Request{AppID: in.ID, Folder: FolderOf(in.Base, in.ID), Workdir: in.Cwd, Sbatch: sbatch}
	if err := req.addWorkspace(ctx, in, o, p); err != nil {
		return nil, err
	}
	for _, dir := range []string{req.Folder, req.Workdir} { // a line of #SBATCH ends with it
		if strings.ContainsAny(dir, "\n\r") {
			return nil, fmt.Errorf("folder %q has a line break: use one without "+
				"(-cfg job_dir=FOLDER chooses that of apps)", dir)
		}
	}
	if req.Script, err = render(in, o, req); err != nil {
		return nil, err
	}
	p.Request = req
	p.Warnings = append(p.Warnings, warnings(in, o)...)
	p.DecidedAtSubmit = decidedAtSubmit(in.App, o)
	return p, nil
}

// Load restores a plan. Errors: backend.ErrInvalidPlan, backend.ErrInvalidOption.
func Load(in Input, raw json.RawMessage) (*backend.Plan, error) {
	o, err := ReadOptions(in.Cfg, in.Cwd)
	if err != nil {
		return nil, err
	}
	req := &Request{}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	if err := d.Decode(req); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "read request: %w", err)
	}
	if err := req.check(in); err != nil {
		return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
	}
	if in.NewTimeout {
		limit, err := timeoutOf(in.App)
		if err != nil {
			return nil, backend.Errorf(backend.ErrInvalidPlan, "%w", err)
		}
		req.Script = timeoutLine().ReplaceAllString(req.Script, "timeout="+strconv.Itoa(limit))
	}
	return &backend.Plan{ID: in.ID, App: in.App.Clone(), Cfg: in.Cfg, Request: req, Warnings: warnings(in, o), Launch: backend.Launch{Progress: in.Progress}}, nil
}

var (
	timeoutLine = pattern.Lazy(`(?m)^timeout=\d+$`)
	folderLine  = pattern.Lazy(`(?m)^folder=(.*)$`)
)

func (r *Request) check(in Input) error {
	line := folderLine().FindStringSubmatch(r.Script)
	switch {
	case r.AppID != in.ID:
		return fmt.Errorf("request.app_id is %q, want %q", r.AppID, in.ID)
	case checkID(r.AppID) != nil:
		return checkID(r.AppID)
	case r.Folder != FolderOf(in.Base, in.ID):
		return fmt.Errorf("request.folder is %q, want %q, which cfg.job_dir determines", r.Folder,
			FolderOf(in.Base, in.ID))
	case !strings.HasPrefix(r.Script, "#!"):
		return errors.New("request.script must begin with #!/bin/bash")
	case strings.Contains(r.Script, "\x00"):
		return errors.New("request.script has a NUL byte")
	case line == nil || line[1] != quote(r.Folder):
		return fmt.Errorf("request.script must have the line folder=%s", quote(r.Folder))
	case len(r.Sbatch) == 0 || r.Sbatch[0] != sbatch[0]:
		return errors.New("request.sbatch must begin with sbatch")
	case !filepath.IsAbs(r.Workdir):
		return fmt.Errorf("request.workdir %q is not an absolute path", r.Workdir)
	}
	return nil
}

// timeoutOf returns the time limit of an app in seconds, rounded up; 0: none.
func timeoutOf(app *spec.App) (int, error) {
	limits, err := app.Limits()
	return seconds(limits.Timeout), err
}

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

// warnings names what has no effect on Slurm.
func warnings(in Input, o Options) []string {
	var all []string
	add := func(what string) {
		if slices.Contains(all, what) {
			return
		}
		all = append(all, what)
	}
	for i := range in.App.Roles {
		role := &in.App.Roles[i]
		if image := role.Image; o.container == "" && image != "" && image != in.DefaultImage &&
			image != spec.None && image != spec.Missing {
			add("image " + image + " (see -cfg container_type)")
		}
		if len(role.Mounts) > 0 && o.container != containerPyxis {
			add("mounts")
		}
		if role.Resource.OtherCapabilities() {
			add("capabilities (see -cfg constraint)")
		}
		if len(role.Resource.Devices) > 0 {
			add("devices")
		}
		order, err := role.Order()
		if err != nil {
			continue // the runner reports it
		}
		if len(order.DependsOn) > 0 {
			add("depends_on")
		}
		if order.Ready != nil {
			add("ready")
		}
		if order.MaxParallel > 0 {
			add("max_parallel")
		}
	}
	if len(all) == 0 {
		return nil
	}
	return []string{"the slurm backend starts all replicas together and ignores: " + strings.Join(all, ", ")}
}

func decidedAtSubmit(app *spec.App, o Options) (lines []string) {
	gpus, memory := false, false
	for i := range app.Roles {
		gpus = gpus || app.Roles[i].Resource.GPU > 0
		memory = memory || app.Roles[i].Resource.MemMB > 0
	}
	if gpus && o.gres == "" {
		lines = append(lines, "gres: GPUs are requested per node; a run on Slurm before 24.11 requests them per task")
	}
	if memory && o.memory == nil {
		lines = append(lines, "nomem: a run requests no memory in a partition with at most 1000 MB of configured memory")
	}
	return lines
}
