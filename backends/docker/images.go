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

// preferCancel returns the error of the context if it caused err.
func preferCancel(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// prepare makes every image of a plan available on the engine: it pulls missing images
// and builds workspaces whose content is not built yet. It creates no container.
// Errors: one line that names the image.
func (p planner) prepare(
	ctx context.Context, engine image.Engine, plan *backend.Plan,
) (err error) {
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
	if o.platform != "" {
		engine = image.OnPlatform(engine, o.platform)
		defer func() {
			if err != nil {
				err = fmt.Errorf("platform %s: %w", o.platform, err)
			}
		}()
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
	return checkHealthchecks(ctx, engine, plan.App, req)
}

// checkHealthchecks refuses a probe by a healthcheck that a container does not have: it would
// never pass.
func checkHealthchecks(ctx context.Context, engine image.Engine, app *spec.App, req *Request) error {
	for i := range req.Containers {
		c := req.Containers[i].Config
		role := app.Role(c.Labels[LabelRole])
		if role == nil || c.Labels[LabelReplica] != "0" {
			continue
		}
		order, err := role.Order()
		if err != nil || order.Ready == nil || !order.Ready.Healthcheck || c.Healthcheck != nil {
			continue
		}
		found, err := engine.ImageInspect(ctx, c.Image)
		if err != nil {
			return fmt.Errorf("inspect image %s: %w", c.Image, plain(err))
		}
		if found.Config == nil || found.Config.Healthcheck == nil {
			return fmt.Errorf("role %s is ready by the healthcheck of its image, but %s has none: add HEALTHCHECK to its Dockerfile, or use a probe of a port or the log", role.Name, c.Image)
		}
	}
	return nil
}

func (p planner) build(
	ctx context.Context, engine image.Engine, b build, quiet bool, progress backend.Progress,
) error {
	job := &image.Build{
		Tree: b.tree, Base: b.base, Name: b.name, Quiet: quiet, Progress: progress,
		Labels: map[string]string{LabelVersion: p.version},
	}
	return job.Run(ctx, engine)
}

// isBuilt reports whether an image is built from a workspace, by its name.
func isBuilt(ref string) bool { return strings.HasPrefix(ref, workspace.Repository+":") }

// pulls returns the images that come from registries: those of containers and the bases
// of builds.
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

// builds returns the builds whose image the engine does not have; with pull=always all,
// because their base may have changed.
func (p planner) builds(
	ctx context.Context, engine image.Engine, plan *backend.Plan, req *Request, o options,
) ([]build, error) {
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
			return nil, fmt.Errorf("image %s is not built, and files have changed in the workspace of role %s since the app was planned: plan it again", name, c.Config.Labels[LabelRole])
		}
	}
	return needed, nil
}

// buildsOf plans the builds of an app again.
func buildsOf(ctx context.Context, plan *backend.Plan, o options) ([]build, error) {
	replanned := &backend.Plan{App: plan.App.Clone(), Launch: backend.Launch{Progress: plan.Progress}}
	w, err := collect(replanned.App, "/", o.mode)
	if err != nil {
		return nil, err
	}
	if err := w.nameImages(ctx, replanned); err != nil {
		return nil, err
	}
	return append([]build{}, w.builds...), nil
}

var _ workspace.Pusher = (*Backend)(nil)

// Push builds and pushes images for a backend with remote machines. Errors:
// backend.ErrUnavailable without an engine.
func (b *Backend) Push(
	ctx context.Context, images []workspace.Push, o workspace.PushOptions,
) error {
	engine, err := b.connect(ctx)
	if err != nil {
		return backend.Errorf(backend.ErrUnavailable,
			"building and pushing images needs a Docker Engine: %w", err)
	}
	puller := &image.Puller{Engine: engine, Policy: image.Missing, Offline: b.offline, Progress: o.Progress}
	for _, p := range images {
		if err := b.push(ctx, puller, p, o); err != nil {
			return preferCancel(ctx, err)
		}
	}
	return nil
}

// push pushes an image. It builds the image of a workspace first if the engine does not have it.
func (b *Backend) push(
	ctx context.Context, puller *image.Puller, p workspace.Push, o workspace.PushOptions,
) error {
	if p.Tree != nil {
		has, err := image.Has(ctx, puller.Engine, p.Local)
		if err == nil && !has {
			err = puller.Ensure(ctx, image.Bases(p.Tree.Dockerfile, p.Base))
			if err == nil {
				err = b.build(ctx, puller.Engine, build{p.Tree, p.Base, p.Local},
					o.Quiet, o.Progress)
			}
		}
		if err != nil {
			return err
		}
	}
	return image.Push(ctx, puller.Engine, p.Local, p.Remote, o.Progress)
}
