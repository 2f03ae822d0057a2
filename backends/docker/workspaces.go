package docker

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-units"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// bindRoot is where workspace_mode=bind mounts the workspace. Containers then start in
// this folder.
const bindRoot = "/workspace"

// largeWorkspace is the size in bytes from which on a note suggests .dockerignore.
const largeWorkspace = 256 << 20

// build is the image of a workspace that is to build.
type build struct {
	tree *workspace.Tree
	base string
	name string
}

// workspaces are the workspaces of an app's roles.
type workspaces struct {
	mode     string
	source   string // how the default workspace of the first role was chosen
	builds   []build
	images   map[string]string              // by role: the image that is built for it
	projects map[string][]workspace.Project // by role: its folders
}

// planWorkspaces sets the workspaces of the plan's app, with absolute paths, names the
// images to build and adds notes about them.
func planWorkspaces(
	ctx context.Context, plan *backend.Plan, in backend.PlanInput, o options,
) (*workspaces, error) {
	source := ""
	if first := &plan.App.Roles[0]; first.Workspace == nil && in.Workspace != "" {
		first.Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: in.Workspace}}}
		source = in.WorkspaceWhy
	} else if first.Workspace == nil && in.WorkspaceWhy != "" {
		plan.Notes = append(plan.Notes, in.WorkspaceWhy)
	}
	w, err := collect(plan.App, in.Cwd, o.mode)
	w.source = source
	if err != nil || o.mode == workspaceBind {
		plan.Notes = append(plan.Notes, w.mountNotes(plan.App)...)
		return w, err
	}
	return w, w.nameImages(ctx, plan)
}

// collect returns the folders of all roles.
func collect(app *spec.App, cwd, mode string) (*workspaces, error) {
	w := &workspaces{mode: mode, images: map[string]string{}, projects: map[string][]workspace.Project{}}
	for i := range app.Roles {
		role := &app.Roles[i]
		projects, err := workspace.Projects(role, cwd)
		if err != nil {
			return w, err
		}
		if len(projects) > 0 {
			w.projects[role.Name] = projects
		}
	}
	return w, nil
}

// nameImages reads each folder once and names the images. Roles with the same image share
// a build.
func (w *workspaces) nameImages(ctx context.Context, plan *backend.Plan) error {
	trees := map[string]*workspace.Tree{}
	for i := range plan.App.Roles {
		role := &plan.App.Roles[i]
		projects := w.projects[role.Name]
		if len(projects) == 0 {
			continue
		}
		key := fmt.Sprintf("%q", projects)
		tree := trees[key]
		if tree == nil {
			var err error
			if tree, err = workspace.Scan(projects); err != nil {
				return err
			}
			trees[key] = tree
		}
		name, err := readTree(ctx, plan.Progress, tree, role.Image)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(w.builds, func(b build) bool { return b.name == name }) {
			w.builds = append(w.builds, build{tree, role.Image, name})
		}
		w.images[role.Name] = name
		w.note(plan, role, tree, name)
	}
	return nil
}

// readTree returns the name of the image. Reading a large workspace is a separate step.
func readTree(
	ctx context.Context, progress backend.Progress, tree *workspace.Tree, base string,
) (string, error) {
	if tree.Bytes > largeWorkspace {
		step := backend.Step{Name: "read " + paths(tree.Projects), Text: sizeOf(tree)}
		progress.Tell(step)
		defer func() { step.Ended = true; progress.Tell(step) }()
	}
	return tree.Name(ctx, base)
}

func (w *workspaces) note(plan *backend.Plan, role *spec.Role, tree *workspace.Tree, name string) {
	plan.Notes = append(plan.Notes, fmt.Sprintf("%s: %s, onto %s as %s",
		w.title(plan.App, role), sizeOf(tree), role.Image, name))
	if tree.Bytes > largeWorkspace {
		plan.Notes = append(plan.Notes, "list files that the image does not need in "+tree.Projects[0].Path+"/.dockerignore")
	}
	plan.Warnings = append(plan.Warnings, tree.Warnings()...)
}

func (w *workspaces) mountNotes(app *spec.App) (notes []string) {
	for i := range app.Roles {
		if len(w.projects[app.Roles[i].Name]) > 0 {
			notes = append(notes, fmt.Sprintf("%s: mounted at %s", w.title(app, &app.Roles[i]), bindRoot))
		}
	}
	return notes
}

// title describes a role's workspace.
func (w *workspaces) title(app *spec.App, role *spec.Role) string {
	text := fmt.Sprintf("workspace of role %s: %s", role.Name, paths(w.projects[role.Name]))
	if w.source != "" && role == &app.Roles[0] {
		text += " (" + w.source + ")"
	}
	return text
}

func paths(projects []workspace.Project) string {
	var all []string
	for _, p := range projects {
		all = append(all, p.Path)
	}
	return strings.Join(all, " + ")
}

func sizeOf(t *workspace.Tree) string {
	if t.Files == 1 {
		return "1 file, " + units.BytesSize(float64(t.Bytes))
	}
	return fmt.Sprintf("%d files, %s", t.Files, units.BytesSize(float64(t.Bytes)))
}

// image returns the image of a role's containers.
func (w *workspaces) image(role *spec.Role) string {
	if name, ok := w.images[role.Name]; ok {
		return name
	}
	return role.Image
}

// bind mounts a role's folders if workspace_mode=bind.
func (w *workspaces) bind(c *Container, role *spec.Role) {
	if w.mode != workspaceBind || len(w.projects[role.Name]) == 0 {
		return
	}
	for _, p := range w.projects[role.Name] {
		at := path.Join(bindRoot, path.Clean("/"+filepath.ToSlash(p.Into)))
		if info, err := os.Stat(p.Path); err == nil && !info.IsDir() &&
			(at == bindRoot || strings.HasSuffix(p.Into, "/")) {
			at = path.Join(at, filepath.Base(p.Path))
		}
		c.HostConfig.Mounts = append(c.HostConfig.Mounts,
			mount.Mount{Type: mount.TypeBind, Source: p.Path, Target: at})
	}
	c.Config.WorkingDir = bindRoot
}
