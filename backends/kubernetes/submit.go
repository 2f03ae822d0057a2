package kubernetes

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends"
	"torchx/backends/kubernetes/kube"
)

// Submit makes the objects of a plan, all or none, and returns when the cluster
// has them. Errors: backends.ErrExists, backends.ErrUnavailable.
func (b *Backend) Submit(ctx context.Context, p *backends.Plan) error {
	req, ok := p.Request.(*Request)
	if !ok {
		return fmt.Errorf("not a plan of the kubernetes backend: %T", p.Request)
	}
	c, err := b.client(placeOf(p.Cfg), func(line string) { p.Progress.Tell(backends.Step{Warning: line}) })
	if err != nil {
		return err
	}
	defer c.Close()
	s := &submission{Client: c, namespace: req.Objects[0].Meta().Namespace}
	if err := s.create(ctx, req.Objects); err != nil {
		return errors.Join(err, s.undo(context.WithoutCancel(ctx)))
	}
	return nil
}

// submission makes the objects of an app and knows those that it has made.
type submission struct {
	*kube.Client
	namespace string
	made      []madeObject
}

type madeObject struct {
	of kube.Resource
	kube.Object
}

func (s *submission) create(ctx context.Context, objects []Object) error {
	for i, o := range objects {
		if i > 0 {
			m := s.made[0]
			o.Meta().OwnerReferences = []metav1.OwnerReference{{APIVersion: objects[0].Type().APIVersion, Kind: objects[0].Type().Kind, Name: m.Name, UID: m.UID}}
		}
		m := madeObject{of: kube.Of(o.Type().APIVersion, o.Type().Kind)}
		if err := s.Create(ctx, m.of, s.namespace, o, false, &m.Object); err != nil {
			return err
		}
		s.made = append(s.made, m)
	}
	return nil
}

func (s *submission) undo(ctx context.Context) error {
	var errs []error
	for _, m := range s.made {
		if err := s.Delete(ctx, m.of, s.namespace, m.Name, m.UID, nil); err != nil && !errors.Is(err, backends.ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
