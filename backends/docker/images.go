package docker

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"torchx/backends/docker/image"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// preferCancel returns the error of a context that has ended, whatever that led to.
func preferCancel(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// prepare brings every image of a plan to the engine: it pulls what is missing
// and builds workspaces whose content is not built yet. No container is made.
// Errors: one line that names the image.
func (p planner) prepare(ctx context.Context, engine image.Engine, plan *backend.Plan) error {
	o, err := readOptions(plan.Cfg)
	if err != nil {
		return err
	}
	req, ok := plan.Request.(*Request)
	if !ok {
		return fmt.Errorf("not a plan of the docker backend: %T", plan.Request)
	}
	for _, c := range req.Containers {
		if c.Config.Image == "" || c.Config.Image == spec.None || c.Config.Image == spec.Missing {
			return fmt.Errorf("role %s has no image, which the docker backend needs: set Role(image=...)", c.Config.Labels[LabelRole])
		}
	}
	builds, err := p.builds(ctx, engine, plan, req, o)
	if err != nil {
		return err
	}
	puller := &image.Puller{
		Engine: engine, Policy: image.Policy(o.pull), Offline: p.offline,
		Default: req.defaultImage, Progress: plan.Progress,
	}
	if err := puller.Ensure(ctx, req.pulls(builds)); err != nil {
		return err
	}
	for _, b := range builds {
		if err := p.build(ctx, engine, b, o.quiet, plan.Progress); err != nil {
			return err
		}
	}
	return nil
}

func (p planner) build(ctx context.Context, engine image.Engine, b build, quiet bool, progress backend.Progress) error {
	job := &image.Build{
		Tree: b.tree, Base: b.base, Name: b.name, Quiet: quiet, Progress: progress,
		Labels: map[string]string{LabelVersion: p.version},
	}
	return job.Run(ctx, engine)
}

// isBuilt reports whether an image is one that planning named.
func isBuilt(ref string) bool { return strings.HasPrefix(ref, workspace.Repository+":") }

// pulls returns the images that come from registries: those of containers, and those
// that builds begin with.
func (r *Request) pulls(builds []build) (refs []string) {
	for _, c := range r.Containers {
		if !isBuilt(c.Config.Image) {
			refs = append(refs, c.Config.Image)
		}
	}
	for _, b := range builds {
		refs = append(refs, image.Bases(b.tree.Dockerfile, b.base)...)
	}
	return refs
}

// builds returns those that the containers need and the engine does not have; with
// pull=always also those whose base may be a newer one now.
func (p planner) builds(ctx context.Context, engine image.Engine, plan *backend.Plan, req *Request, o options) ([]build, error) {
	var needed []build
	seen := map[string]bool{}
	known := req.builds
	for _, c := range req.Containers {
		name := c.Config.Image
		if seen[name] || !isBuilt(name) {
			continue
		}
		seen[name] = true
		has, err := image.Has(ctx, engine, name)
		if err != nil {
			return nil, err
		}
		if has && o.pull != pullAlways {
			continue
		}
		if known == nil { // the plan was read from a file
			if known, err = buildsOf(ctx, plan, o); err != nil {
				return nil, err
			}
		}
		at := slices.IndexFunc(known, func(b build) bool { return b.name == name })
		switch {
		case at >= 0:
			needed = append(needed, known[at])
		case !has:
			return nil, fmt.Errorf("image %s is not built, and the workspace of role %s makes another one: its files have changed since the app was planned; plan it again", name, c.Config.Labels[LabelRole])
		}
	}
	return needed, nil
}

// buildsOf plans the workspaces of an app again.
func buildsOf(ctx context.Context, plan *backend.Plan, o options) ([]build, error) {
	again := &backend.Plan{App: plan.App.Clone(), Launch: backend.Launch{Progress: plan.Progress}}
	w, err := collect(again.App, "/", o.mode)
	if err != nil {
		return nil, err
	}
	if err := w.name(ctx, again); err != nil {
		return nil, err
	}
	return append([]build{}, w.builds...), nil
}

var _ workspace.Pusher = (*Backend)(nil)

// Push builds and pushes images for a backend whose machines are elsewhere. Errors:
// backend.ErrUnavailable without an engine.
func (b *Backend) Push(ctx context.Context, images []workspace.Push, o workspace.PushOptions) error {
	engine, err := b.connect(ctx)
	if err != nil {
		return backend.Errorf(backend.ErrUnavailable, "images are built and pushed by a Docker Engine: %w", err)
	}
	puller := &image.Puller{Engine: engine, Policy: image.Missing, Offline: b.offline, Progress: o.Progress}
	for _, p := range images {
		if err := b.push(ctx, puller, p, o); err != nil {
			return preferCancel(ctx, err)
		}
	}
	return nil
}

// push pushes an image, of a workspace after building it where the engine has none.
func (b *Backend) push(ctx context.Context, puller *image.Puller, p workspace.Push, o workspace.PushOptions) error {
	if p.Tree != nil {
		has, err := image.Has(ctx, puller.Engine, p.Local)
		if err == nil && !has {
			err = puller.Ensure(ctx, image.Bases(p.Tree.Dockerfile, p.Base))
			if err == nil {
				err = b.build(ctx, puller.Engine, build{p.Tree, p.Base, p.Local}, o.Quiet, o.Progress)
			}
		}
		if err != nil {
			return err
		}
	}
	return image.Push(ctx, puller.Engine, p.Local, p.Remote, o.Progress)
}
