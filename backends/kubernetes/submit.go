package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// notStarted is what `torchx run` ends with where the cluster refuses a planned app.
const notStarted = 125

// Submit makes the objects of a plan, all or none, and returns when the cluster has
// them. What the cluster would refuse is found before images are pushed or anything
// is made. Errors: backends.ErrExists, backends.ErrUnavailable, *backends.StartError.
func (b *Backend) Submit(ctx context.Context, p *backend.Plan) error {
	err := b.start(ctx, p)
	for _, other := range []error{nil, backend.ErrExists, backend.ErrUnavailable, backend.ErrInvalidOption, errLeft, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, other) {
			return err
		}
	}
	return &backend.StartError{Code: notStarted, Err: err}
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
	s := &submission{Client: c, namespace: req.Objects[0].Meta().Namespace, progress: p.Progress}
	if o.Validate {
		if err := s.validate(ctx, req, p.App); err != nil {
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
	if err := s.submit(ctx, req); err != nil {
		return errors.Join(err, forget())
	}
	if err := follow(); err != nil {
		p.Progress.Tell(backend.Step{Warning: err.Error() + "; the next command tries again"})
	}
	return nil
}

// errLeft: an app was refused, but a part of it may run, which its state tells then.
var errLeft = errors.New("a part is left")

// submit makes the objects; whatever fails, what was made is removed.
func (s *submission) submit(ctx context.Context, req *manifest.Request) error {
	err := manifest.ExplainTooLarge(s.create(ctx, req), req.Form())
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
	return backend.Errorf(errLeft, "%w; what was made could not be removed (%w): `kubectl%s -n %s delete %s` does",
		err, left, s.flag(), s.namespace, strings.Join(s.names(), " "))
}

func (s *submission) flag() string {
	if s.Context == "" {
		return ""
	}
	return " --context " + s.Context
}
