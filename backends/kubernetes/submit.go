package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
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
	req, ok := p.Request.(*Request)
	if !ok {
		return fmt.Errorf("not a plan of the kubernetes backend: %T", p.Request)
	}
	o, err := readOptions(p.Cfg)
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
	if err := req.settle(p, installed(groups)); err != nil {
		return err
	}
	if err := req.checkImages(); err != nil {
		return err
	}
	req.reportErrors()
	if err := req.remember(p); err != nil {
		return err
	}
	s := &submission{Client: c, namespace: req.Objects[0].Meta().Namespace, progress: p.Progress}
	if o.validate {
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

// settle takes the form that the cluster has where nobody chose one.
func (r *Request) settle(p *backend.Plan, has []form) error {
	if r.builder != nil && r.builder.options.gang == formAuto {
		b := *r.builder
		if b.form = choose(b.in.App, b.options, has); b.form != r.form() {
			objects, err := b.build()
			if err != nil {
				return err
			}
			r.Objects = objects
		}
		for _, w := range formWarnings(b.in.App, b.form, b.options) {
			p.Progress.Tell(backend.Step{Warning: w})
		}
	}
	f := r.form()
	if slices.Contains(has, f) {
		return nil
	}
	var names []string
	for _, h := range has {
		names = append(names, string(h))
	}
	slices.Sort(names)
	return backend.Errorf(backend.ErrUnavailable, "the cluster has no %s, which gang=%s needs: install it, or take another form (-cfg gang=auto; there is %s)",
		needs[f], f, strings.Join(names, ", "))
}

// needs is what a form needs on the cluster.
var needs = map[form]string{formVolcano: "Volcano", formJobSet: "JobSet", formJob: "Job"}

// checkImages refuses what is no image's name.
func (r *Request) checkImages() error {
	for _, o := range r.Objects {
		for _, t := range templates(o) {
			for _, c := range t.Spec.Containers {
				if c.Image == spec.None || c.Image == spec.Missing {
					return fmt.Errorf("container %s has no image, which every pod needs: set Role(image=...) or --image", c.Name)
				}
			}
		}
	}
	return nil
}

// errLeft: an app was refused, but a part of it may run, which its state tells then.
var errLeft = errors.New("a part is left")

// submit makes the objects; whatever fails, what was made is removed.
func (s *submission) submit(ctx context.Context, req *Request) error {
	err := tooLarge(s.create(ctx, req), req.form())
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
