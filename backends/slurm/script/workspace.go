package script

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// workspaceFolder is the folder of job_dir for copies of projects, each named by its content.
const workspaceFolder = "workspace"

// addWorkspace plans the copy of the project that the first role has, or that the user chose. All
// replicas run in the copy.
func (r *Request) addWorkspace(ctx context.Context, in Input, o Options, p *backend.Plan) error {
	first := &p.App.Roles[0]
	own := first.Workspace != nil && len(first.Workspace.Projects) > 0
	for i := range p.App.Roles[1:] {
		if w := p.App.Roles[i+1].Workspace; w != nil && len(w.Projects) > 0 {
			p.Warnings = append(p.Warnings, "the workspace of role "+p.App.Roles[i+1].Name+" is ignored: all roles run in that of role "+first.Name)
		}
	}
	if o.JobDir == "" {
		if own || in.Workspace != "" && in.WorkspaceWhy == "" {
			p.Warnings = append(p.Warnings, "the workspace is not copied without -cfg job_dir=FOLDER: replicas run in "+in.Cwd)
		}
		return nil
	}
	if !own {
		if in.Workspace == "" {
			return nil
		}
		first.Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: in.Workspace}}}
	}
	projects, err := workspace.Projects(first, in.Cwd)
	if err != nil {
		return err
	}
	r.Workspace = &Workspace{Projects: map[string]string{}}
	for _, project := range projects {
		r.Workspace.Projects[project.Path] = project.Into
	}
	name, err := r.Workspace.scan(ctx)
	if err != nil {
		return err
	}
	p.Warnings = append(p.Warnings, r.Workspace.warnings()...)
	r.Workspace.Dir = filepath.Join(o.JobDir, workspaceFolder, name)
	r.Workdir = r.Workspace.Dir
	if !own && in.WorkspaceWhy != "" {
		p.Notes = append(p.Notes, "workspace: "+in.Workspace+" "+in.WorkspaceWhy)
	}
	return nil
}

// scan reads the projects and returns the name of their content.
func (w *Workspace) scan(ctx context.Context) (name string, err error) {
	var projects []workspace.Project
	for path, into := range w.Projects {
		projects = append(projects, workspace.Project{Path: path, Into: into})
	}
	if w.Tree, err = workspace.ScanCopy(projects); err != nil {
		return "", err
	}
	return w.Tree.Hash(ctx)
}

func (w *Workspace) warnings() []string {
	if len(w.Tree.Skipped) == 0 {
		return nil
	}
	return []string{"sockets, pipes and devices are not copied: skipped " + strings.Join(w.Tree.Skipped, ", ")}
}

// Copy creates the copy unless it exists. A copy that was interrupted is never used.
func (w *Workspace) Copy(ctx context.Context) (err error) {
	if _, err := os.Stat(w.Dir); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if w.Tree == nil { // a plan that was read
		name, err := w.scan(ctx)
		if err != nil {
			return err
		}
		if name != filepath.Base(w.Dir) {
			return errors.New("the workspace has changed since the plan was printed: plan it again")
		}
	}
	parent := filepath.Dir(w.Dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(parent, ".copy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := w.Tree.CopyTo(ctx, tmp); err != nil {
		return err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := os.Rename(tmp, w.Dir); err != nil {
		if _, statErr := os.Stat(w.Dir); statErr == nil {
			return nil // another submit was faster
		}
		return err
	}
	return nil
}
