package kubernetes

import (
	"cmp"
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

// undoTime bounds the removal of what a failed submission has created.
const undoTime = 20 * time.Second

// submission creates the objects of an app and remembers those that it may have created.
type submission struct {
	*kube.Client
	request   *manifest.Request
	namespace string
	progress  backend.Progress
	created   []created
}

// created is an object of ours on the cluster.
type created struct {
	of kube.Resource
	kube.Object
}

// create creates all objects, first the owner of the others.
func (s *submission) create(ctx context.Context) error {
	number := rand.Text()
	objects := s.request.CreationOrder()
	for _, o := range objects {
		metav1.SetMetaDataAnnotation(o.Meta(), label.Submission, number)
	}
	var owners []metav1.OwnerReference
	for i, o := range objects {
		if i > 0 {
			o.Meta().OwnerReferences = []metav1.OwnerReference{s.created[0].reference()}
		}
		if err := s.createOne(ctx, o); err != nil {
			return err
		}
		if i > 0 {
			owners = append(owners, s.created[i].reference())
		}
	}
	if service := s.created[0]; service.of == kube.Services && len(owners) > 0 {
		// When ttl_seconds deletes the Jobs, the last one takes the service along.
		return s.Patch(ctx, service.of, s.namespace, service.Name, "", map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
	}
	return nil
}

// createOne creates an object. If the response is lost, it checks whether the object exists.
func (s *submission) createOne(ctx context.Context, o manifest.Object) error {
	c := created{of: kube.Of(o.Type().APIVersion, o.Type().Kind)}
	c.TypeMeta, c.Name = o.Type(), o.Meta().Name
	err := s.Create(ctx, c.of, s.namespace, o, false, &c.Object)
	if err == nil {
		s.created = append(s.created, c)
		return nil
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return err // it was refused
	}
	check, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	found := kube.Object{}
	if s.Get(check, c.of, s.namespace, c.Name, &found) == nil && found.Annotations[label.Submission] == o.Meta().Annotations[label.Submission] {
		c.Object = found
		s.created = append(s.created, c)
		return ctx.Err()
	}
	return err
}

// reference returns a reference that makes the object the owner of another.
func (c created) reference() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: c.APIVersion, Kind: c.Kind, Name: c.Name, UID: c.UID}
}

// undo removes what was created. It tries all and returns the first error.
func (s *submission) undo(ctx context.Context) (first error) {
	for _, c := range s.created {
		err := ignoreMissing(s.Delete(ctx, c.of, s.namespace, c.Name, c.UID, nil))
		first = cmp.Or(first, err)
	}
	return first
}
