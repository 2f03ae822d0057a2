package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"torchx/backends/kubernetes/manifest"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Submit creates the objects of a plan, all or none, and returns when the cluster has
// them. It finds what the cluster would refuse before it pushes images or creates
// anything. Errors: ErrExists, ErrUnavailable, *backend.StartError.
func (b *Backend) Submit(ctx context.Context, p *backend.Plan) error {
	err := b.start(ctx, p)
	isThat := func(target error) bool { return errors.Is(err, target) }
	if slices.ContainsFunc([]error{nil, backend.ErrExists, backend.ErrUnavailable, backend.ErrInvalidOption, errPartLeft, context.Canceled, context.DeadlineExceeded}, isThat) {
		return err
	}
	return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
}

// start is Submit with errors of any kind.
func (b *Backend) start(ctx context.Context, p *backend.Plan) error {
	req, ok := p.Request.(*manifest.Request)
	if !ok {
		return fmt.Errorf("not a plan of the kubernetes backend: %T", p.Request)
	}
	o, err := manifest.ReadOptions(p.Cfg)
	if err != nil {
		return err
	}
	c, err := b.client(placeOf(p.Cfg), func(line string) { p.Progress.Tell(backend.Step{Warning: "the cluster warns: " + line}) })
	if err != nil {
		return err
	}
	defer c.Close()
	groups, err := c.Groups(ctx)
	if err != nil {
		return err
	}
	if err := req.Settle(p, installed(groups)); err != nil {
		return err
	}
	if err := req.CheckImages(); err != nil {
		return err
	}
	req.AddErrorFiles()
	if err := req.AddRecord(p); err != nil {
		return err
	}
	s := &submission{Client: c, request: req, namespace: req.Objects[0].Meta().Namespace, progress: p.Progress}
	if o.Validate {
		if err := s.validate(ctx, p.App); err != nil {
			return err
		}
	}
	if err := b.push(ctx, p, req, o); err != nil {
		return err
	}
	follow, forget, err := b.beginArchive(p)
	if err != nil {
		return err
	}
	if err := s.submit(ctx); err != nil {
		return errors.Join(err, forget())
	}
	if err := follow(); err != nil {
		p.Progress.Tell(backend.Step{Warning: err.Error() + "; the next command tries again"})
	}
	return nil
}

// push builds missing images and pushes local ones to where the cluster finds them.
func (b *Backend) push(ctx context.Context, p *backend.Plan, req *manifest.Request, o manifest.Options) error {
	if len(req.ImagesToPush) == 0 {
		return nil
	}
	pushes, err := req.Pushes(ctx, p)
	if err != nil {
		return err
	}
	var images workspace.Pusher
	if b.config.Images != nil {
		if images, err = b.config.Images(); err != nil {
			return fmt.Errorf("push images: %w", err)
		}
	}
	if images == nil {
		return errors.New("images cannot be pushed: there is nothing that builds them")
	}
	return images.Push(ctx, pushes, workspace.PushOptions{Quiet: o.Quiet, Progress: p.Progress})
}

// errPartLeft means that an app was refused, but a part of it may run: its state tells.
var errPartLeft = errors.New("a part is left")

// submit creates the objects. On any failure it removes what it created.
func (s *submission) submit(ctx context.Context) error {
	err := s.request.ExplainTooLarge(s.create(ctx))
	if err == nil {
		return nil
	}
	cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	left := s.undo(cleanup)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if left == nil {
		return err
	}
	var names []string
	for _, c := range s.created {
		names = append(names, c.of.String()+"/"+c.Name)
	}
	flag := ""
	if s.Context != "" {
		flag = " --context " + s.Context
	}
	return backend.Errorf(errPartLeft, "%w; what was made could not be removed (%w): `kubectl%s -n %s delete %s` does",
		err, left, flag, s.namespace, strings.Join(names, " "))
}
