package docker

import (
	"context"
	"fmt"
	"strings"

	"torchx/backends/docker/image"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// prepare brings every image of a plan to the engine: it pulls what is missing
// and builds workspaces whose content is not built yet. No container is made.
// Errors: one line that names the image; context.Canceled.
func (p planner) prepare(ctx context.Context, engine image.Engine, plan *backend.Plan) error {
	err := p.bringImages(ctx, engine, plan)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // whatever it was in the middle of
	}
	return err
}

func (p planner) bringImages(ctx context.Context, engine image.Engine, plan *backend.Plan) error {
	o, err := readOptions(plan.Cfg)
	if err != nil {
		return err
	}
	req, ok := plan.Request.(*Request)
	if !ok {
		return fmt.Errorf("not a plan of the docker backend: %T", plan.Request)
	}
	if err := req.checkImages(); err != nil {
		return err
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
		job := &image.Build{
			Tree: b.tree, Base: b.base, Name: b.name, Quiet: o.quiet, Progress: plan.Progress,
			Labels: map[string]string{LabelVersion: p.version},
		}
		if err := job.Run(ctx, engine); err != nil {
			return err
		}
	}
	return nil
}

// checkImages refuses what is no image's name.
func (r *Request) checkImages() error {
	for _, c := range r.Containers {
		if c.Config.Image == "" || c.Config.Image == spec.None || c.Config.Image == spec.Missing {
			return fmt.Errorf("role %s has no image, which the docker backend needs: set Role(image=...)", c.Config.Labels[LabelRole])
		}
	}
	return nil
}

// isBuilt reports whether an image is one that planning named.
func isBuilt(ref string) bool { return strings.HasPrefix(ref, workspace.Repository+":") }

// pulls are the images that come from elsewhere: those of containers, and those
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

// builds are those that the containers need and the engine does not have; with
// pull=always those, too, whose base may be a newer one now.
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
		b, ok := find(known, name)
		switch {
		case ok:
			needed = append(needed, b)
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

func find(builds []build, name string) (build, bool) {
	for _, b := range builds {
		if b.name == name {
			return b, true
		}
	}
	return build{}, false
}
