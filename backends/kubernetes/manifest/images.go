package manifest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/docker/go-units"

	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// localImage is the prefix of an image ID, which only the local engine knows.
const localImage = "sha256:"

// PushedImage is the destination of a local image: repository and tag.
type PushedImage [2]string

// String returns the image reference of containers.
func (p PushedImage) String() string { return p[0] + ":" + p[1] }

// images holds the images that the roles' containers run.
type images struct {
	of   []string               // by role index
	push map[string]PushedImage // by local image

	// Sources of local images, by image name.
	trees map[string]*workspace.Tree
	bases map[string]string
}

// planImages returns the images of all roles. A workspace and an image of the local
// engine are pushed to image_repo. The workspaces of the plan's app get absolute paths.
func planImages(
	ctx context.Context, plan *backend.Plan, in backend.PlanInput, o Options,
) (images, error) {
	im := images{push: map[string]PushedImage{}}
	addWorkspace(plan, in, o)
	for i := range plan.App.Roles {
		role := &plan.App.Roles[i]
		local := ""
		if strings.HasPrefix(role.Image, localImage) {
			local = role.Image
		}
		if hasWorkspace(role) && o.imageRepo != "" {
			var err error
			if local, err = im.nameWorkspace(ctx, plan, role, in.Cwd); err != nil {
				return im, err
			}
		}
		image := role.Image
		if local != "" {
			if o.imageRepo == "" {
				return im, fmt.Errorf("image %s of role %s is local and cannot be pulled by nodes: set -cfg image_repo=REPOSITORY", role.Image, role.Name)
			}
			_, tag, _ := strings.Cut(local, ":")
			im.push[local] = PushedImage{o.imageRepo, tag}
			image = im.push[local].String()
		}
		im.of = append(im.of, image)
	}
	return im, nil
}

// addWorkspace gives the first role the workspace of the command. Without image_repo it
// only adds a note that the workspace is ignored.
func addWorkspace(plan *backend.Plan, in backend.PlanInput, o Options) {
	first := &plan.App.Roles[0]
	if o.imageRepo != "" {
		switch {
		case first.Workspace == nil && in.Workspace != "":
			first.Workspace = &spec.Workspace{Projects: spec.Map[string]{{Key: in.Workspace}}}
		case first.Workspace == nil && in.WorkspaceWhy != "":
			plan.Notes = append(plan.Notes, in.WorkspaceWhy)
		}
		return
	}
	const text = "the workspace is ignored: nodes can only pull images from a repository (set -cfg image_repo=REPOSITORY)"
	isChosen := in.Workspace != "" && in.WorkspaceWhy == ""
	if isChosen || slices.ContainsFunc(plan.App.Roles, func(r spec.Role) bool { return hasWorkspace(&r) }) {
		plan.Warnings = append(plan.Warnings, text)
	} else if in.Workspace != "" {
		plan.Notes = append(plan.Notes, text)
	}
}

func hasWorkspace(role *spec.Role) bool {
	return role.Workspace != nil && len(role.Workspace.Projects) > 0
}

// nameWorkspace returns the name of the image that is built from a role's folders. It reads
// all their files.
func (im *images) nameWorkspace(
	ctx context.Context, plan *backend.Plan, role *spec.Role, cwd string,
) (string, error) {
	projects, err := workspace.Projects(role, cwd)
	if err != nil {
		return "", err
	}
	tree, err := workspace.Scan(projects)
	if err != nil {
		return "", err
	}
	name, err := tree.Name(ctx, role.Image)
	if err != nil {
		return "", err
	}
	if im.trees == nil {
		im.trees, im.bases = map[string]*workspace.Tree{}, map[string]string{}
	}
	im.trees[name], im.bases[name] = tree, role.Image
	plan.Notes = append(plan.Notes, fmt.Sprintf("workspace of role %s: %s, %d files, %s, onto %s as %s",
		role.Name, projects[0].Path, tree.Files, units.HumanSize(float64(tree.Bytes)), role.Image, name))
	plan.Warnings = append(plan.Warnings, tree.Warnings()...)
	return name, nil
}

// Pushes returns the images to push, with the folders of those built from a workspace.
func (r *Request) Pushes(
	ctx context.Context, p *backend.Plan,
) (pushes []workspace.Push, err error) {
	trees, bases := r.trees, r.bases
	if trees == nil { // the plan was read from a file
		again, im := &backend.Plan{App: p.App.Clone()}, images{}
		for i := range again.App.Roles {
			if role := &again.App.Roles[i]; hasWorkspace(role) {
				if _, err := im.nameWorkspace(ctx, again, role, "/"); err != nil {
					return nil, err
				}
			}
		}
		trees, bases = im.trees, im.bases
	}
	for local, remote := range r.ImagesToPush {
		push := workspace.Push{Local: local, Remote: remote.String(), Tree: trees[local], Base: bases[local]}
		if push.Tree == nil && !strings.HasPrefix(local, localImage) {
			return nil, fmt.Errorf("image %s cannot be built: files of the workspace have changed since the app was planned (plan it again)", local)
		}
		pushes = append(pushes, push)
	}
	return pushes, nil
}
