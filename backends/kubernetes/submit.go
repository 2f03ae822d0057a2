package kubernetes

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/archive"
	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/workspace"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Submit creates the objects of a plan, all or none, and returns when the cluster has
// them. It finds what the cluster would refuse before it pushes images or creates
// anything. Errors: ErrExists, ErrUnavailable, ErrPartLeft, *backend.StartError.
func (b *Backend) Submit(ctx context.Context, p *backend.Plan) error {
	err := suggestJobs(b.start(ctx, p), p)
	is := func(target error) bool { return errors.Is(err, target) }
	if slices.ContainsFunc([]error{nil, backend.ErrExists, backend.ErrUnavailable, backend.ErrInvalidOption, backend.ErrPartLeft, context.Canceled, context.DeadlineExceeded}, is) {
		return err
	}
	return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
}

// start is Submit, with unclassified errors.
func (b *Backend) start(ctx context.Context, p *backend.Plan) error {
	req, ok := p.Request.(*manifest.Request)
	if !ok {
		return fmt.Errorf("not a plan of the kubernetes backend: %T", p.Request)
	}
	o, err := manifest.ReadOptions(p.Cfg)
	if err != nil {
		return err
	}
	c, err := b.client(clusterRefOf(p.Cfg), func(line string) { p.Progress.Tell(backend.Step{Warning: "the cluster warns: " + line}) })
	if err != nil {
		return err
	}
	defer c.Close()
	groups, err := c.Groups(ctx)
	if err != nil {
		return err
	}
	if err := req.ResolveForm(p, installed(groups)); err != nil {
		return err
	}
	if err := req.CheckImages(); err != nil {
		return err
	}
	req.AddErrorFiles()
	req.AddMetrics()
	if p.TTY != nil {
		req.AddTerminal()
	}
	if err := req.AddRecord(p); err != nil {
		return err
	}
	s := &submission{Client: c, request: req, namespace: req.Objects[0].Meta().Namespace, progress: p.Progress}
	switch {
	case o.Validate:
		err = s.validate(ctx, p.App)
	case req.HasDependencies():
		err = s.checkOrder(ctx)
	}
	if err != nil {
		return err
	}
	if err := b.push(ctx, p, req, o); err != nil {
		return err
	}
	follow, forget, err := archives.Begin(b.config.Home, b.config.Exe, p,
		archive.Info{App: metricsOf(p.App)})
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

// suggestJobs adds to a missing right for the form that gang=auto has chosen that Jobs need fewer.
func suggestJobs(err error, p *backend.Plan) error {
	req, ok := p.Request.(*manifest.Request)
	gang, _ := p.Cfg["gang"].(string)
	isAuto := gang == "" || manifest.Form(gang) == manifest.FormAuto
	if !ok || !isAuto || !errors.Is(err, kube.ErrForbidden) || req.Form() == manifest.FormJob ||
		req.HasDependencies() {
		return err
	}
	return fmt.Errorf("%w, or use -cfg gang=job, which needs fewer rights", err)
}

// push builds missing images, and pushes local ones to the registry of the cluster.
func (b *Backend) push(
	ctx context.Context, p *backend.Plan, req *manifest.Request, o manifest.Options,
) error {
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
		return errors.New("images cannot be pushed: no backend builds images")
	}
	return images.Push(ctx, pushes, workspace.PushOptions{Quiet: o.Quiet, Progress: p.Progress})
}

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
	return backend.Errorf(backend.ErrPartLeft, "%w; the objects already created could not be removed (%w): run `kubectl%s -n %s delete %s`",
		err, left, s.Flag(), s.namespace, strings.Join(names, " "))
}

// undoTime bounds the removal of the objects of a failed submission.
const undoTime = 20 * time.Second

// submission creates the objects of an app and remembers those that it may have created.
type submission struct {
	*kube.Client
	request   *manifest.Request
	namespace string
	progress  backend.Progress
	created   []created
}

// created is an object that a submission has created.
type created struct {
	of kube.Resource
	kube.Object
}

// create creates all objects, first the owner of the others.
func (s *submission) create(ctx context.Context) error {
	submissionID := rand.Text()
	objects := s.request.CreationOrder()
	for _, o := range objects {
		metav1.SetMetaDataAnnotation(o.Meta(), kube.AnnotationSubmission, submissionID)
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
		// When ttl_seconds deletes the last Job, the cluster deletes the service, too.
		return s.Patch(ctx, service.of, s.namespace, service.Name, "",
			map[string]any{"metadata": map[string]any{"ownerReferences": owners}})
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
		return err // the server refused it
	}
	check, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	found := kube.Object{}
	if s.Get(check, c.of, s.namespace, c.Name, &found) == nil &&
		found.Annotations[kube.AnnotationSubmission] == o.Meta().Annotations[kube.AnnotationSubmission] {
		c.Object = found
		s.created = append(s.created, c)
		return ctx.Err()
	}
	return err
}

// reference returns an owner reference to the object.
func (c created) reference() metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: c.APIVersion, Kind: c.Kind, Name: c.Name, UID: c.UID}
}

// undo removes the created objects. It tries all and returns the first error.
func (s *submission) undo(ctx context.Context) (first error) {
	for _, c := range s.created {
		err := ignoreMissing(s.Delete(ctx, c.of, s.namespace, c.Name, c.UID, nil))
		first = cmp.Or(first, err)
	}
	return first
}

// checkEnvironments checks that the Secrets and ConfigMaps exist whose entries become variables:
// pods would wait for them without an end. It is skipped for users who may not read them, and
// never reads their contents.
func (s *submission) checkEnvironments(ctx context.Context) error {
	checked := map[string]bool{}
	for _, p := range s.request.PodSets() {
		for i := range p.Spec.Containers {
			for _, e := range p.Spec.Containers[i].EnvFrom {
				var err error
				switch {
				case e.SecretRef != nil && (e.SecretRef.Optional == nil || !*e.SecretRef.Optional):
					err = s.checkSource(ctx, kube.Secrets, "secret", e.SecretRef.Name, checked)
				case e.ConfigMapRef != nil && (e.ConfigMapRef.Optional == nil || !*e.ConfigMapRef.Optional):
					err = s.checkSource(ctx, kube.ConfigMaps, "configmap",
						e.ConfigMapRef.Name, checked)
				}
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checkSource checks one source of variables, once.
func (s *submission) checkSource(
	ctx context.Context, of kube.Resource, kind, name string, checked map[string]bool,
) error {
	key := kind + ":" + name
	if checked[key] {
		return nil
	}
	checked[key] = true
	err := s.GetMetadata(ctx, of, s.namespace, name)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("namespace %s has no %s %s, which env_from names: create it (kubectl -n %s create %s …) or choose another by -cfg env_from=%s:NAME", s.namespace, kind, name, s.namespace, kind, kind)
	case errors.Is(err, kube.ErrForbidden):
		return nil
	}
	return err
}
