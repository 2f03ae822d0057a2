package kubernetes

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// undoTime bounds the removal of what a failed submission has made.
const undoTime = 20 * time.Second

// submission makes the objects of an app and knows those that it may have made.
type submission struct {
	*kube.Client
	namespace string
	progress  backend.Progress
	made      []made
}

// made is an object of ours on the cluster.
type made struct {
	of kube.Resource
	kube.Object
}

// create makes all objects, first the one whose deletion deletes the others.
func (s *submission) create(ctx context.Context, req *manifest.Request) error {
	number := rand.Text()
	objects := req.CreationOrder()
	for _, o := range objects {
		if o.Meta().Annotations == nil {
			o.Meta().Annotations = map[string]string{}
		}
		o.Meta().Annotations[label.Submission] = number
	}
	var owners []metav1.OwnerReference
	for i, o := range objects {
		if i > 0 {
			o.Meta().OwnerReferences = []metav1.OwnerReference{s.made[0].reference()}
		}
		if err := s.make(ctx, o); err != nil {
			return err
		}
		if i > 0 {
			owners = append(owners, s.made[i].reference())
		}
	}
	if service := s.made[0]; service.of == kube.Services && len(owners) > 0 {
		// Jobs that end by their ttl_seconds take the service along, the last one of them.
		return s.Patch(ctx, service.of, s.namespace, service.Name, "", map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
	}
	return nil
}

// make makes one object. Where the answer got lost it looks whether the object is there.
func (s *submission) make(ctx context.Context, o manifest.Object) error {
	m := made{of: kube.Of(o.Type().APIVersion, o.Type().Kind)}
	m.TypeMeta, m.Name = o.Type(), o.Meta().Name
	err := s.Create(ctx, m.of, s.namespace, o, false, &m.Object)
	if err == nil {
		s.made = append(s.made, m)
		return nil
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return err // it was refused
	}
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	found := kube.Object{}
	if s.Get(look, m.of, s.namespace, m.Name, &found) == nil && found.Annotations[label.Submission] == o.Meta().Annotations[label.Submission] {
		m.Object = found
		s.made = append(s.made, m)
		return ctx.Err()
	}
	return err
}

// reference makes an object the owner of another.
func (m made) reference() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: m.APIVersion, Kind: m.Kind, Name: m.Name, UID: m.UID}
}

// undo removes what was made; it tries all and returns the first error.
func (s *submission) undo(ctx context.Context) (first error) {
	for _, m := range s.made {
		err := s.Delete(ctx, m.of, s.namespace, m.Name, m.UID, nil)
		if err != nil && !errors.Is(err, backend.ErrNotFound) && first == nil {
			first = err
		}
	}
	return first
}

// names are those of what was made, as kubectl takes them.
func (s *submission) names() (names []string) {
	for _, m := range s.made {
		names = append(names, m.of.String()+"/"+m.Name)
	}
	return names
}
