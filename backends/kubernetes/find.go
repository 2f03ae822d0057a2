package kubernetes

import (
	"context"
	"errors"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// app holds the main objects of an app on the cluster: Volcano, JobSet or Jobs, by form.
type app struct {
	form manifest.Form
	observe.Observation
}

// find reads the main objects of an app. It makes one request for each possible form, the
// likely one first. A form that the user may not read counts only if the app has it.
// Errors: ErrNotFound, ErrForbidden, ErrUnavailable.
func (t *target) find(ctx context.Context) (*app, error) {
	order := slices.Clone(manifest.Forms)
	if i := slices.Index(order, t.form()); i > 0 {
		order = slices.Insert(slices.Delete(order, i, i+1), 0, t.form())
	}
	denied := map[manifest.Form]error{}
	for _, f := range order {
		a := &app{form: f}
		err := t.findAs(ctx, a)
		switch {
		case err == nil:
			return a, nil
		case errors.Is(err, kube.ErrForbidden):
			denied[f] = err
		case !errors.Is(err, backend.ErrNotFound):
			return nil, err
		}
	}
	if err := t.deniedForm(ctx, denied); err != nil {
		return nil, err
	}
	return nil, backend.Errorf(backend.ErrNotFound, "%s has no app %s in namespace %s", t.Client,
		t.name, t.namespace)
}

// deniedForm returns why the main objects of an app cannot be read, nil if it does not exist in
// any form: without a recorded form, its pods show it.
func (t *target) deniedForm(ctx context.Context, denied map[manifest.Form]error) error {
	form := t.form()
	if len(denied) > 0 && form == "" {
		if pods, err := t.listPods(ctx, kube.AppSelector(t.name)); err == nil {
			form = formOf(pods)
		}
	}
	return deniedAs(denied, form)
}

// deniedAs returns why an app of a form cannot be read, nil if it can. If no form can, the simplest
// one explains it.
func deniedAs(denied map[manifest.Form]error, form manifest.Form) error {
	if len(denied) == len(manifest.Forms) {
		form = manifest.FormJob
	}
	return denied[form]
}

// findAs reads the main objects of an app that has the form of a.
func (t *target) findAs(ctx context.Context, a *app) (err error) {
	switch a.form {
	case manifest.FormVolcano:
		a.Volcano = &kube.VolcanoJob{}
		return t.Get(ctx, kube.VolcanoJobs, t.namespace, t.name, a.Volcano)
	case manifest.FormJobSet:
		a.JobSet = &kube.JobSet{}
		return t.Get(ctx, kube.JobSets, t.namespace, t.name, a.JobSet)
	}
	a.Jobs, err = kube.List[batchv1.Job](ctx, t.Client, kube.Jobs, t.namespace,
		kube.ListOptions{LabelSelector: ownJobs(t.name)})
	if err == nil && len(a.Jobs) == 0 {
		err = backend.ErrNotFound
	}
	return err
}

// ownJobs returns the selector of an app's Jobs that do not belong to a JobSet.
func ownJobs(name string) string { return kube.AppSelector(name) + ",!" + kube.LabelJobSetName }

// form returns the recorded form of the app, "" if unknown.
func (t *target) form() manifest.Form {
	gang, _ := t.cfg["gang"].(string)
	if f := manifest.Form(gang); f != manifest.FormAuto {
		return f
	}
	return ""
}

// installed returns the forms that a cluster can run.
func installed(g kube.Groups) []manifest.Form {
	return slices.DeleteFunc(slices.Clone(manifest.Forms), func(f manifest.Form) bool { return !g.Has(mainResources[f]) })
}

// meta returns the metadata of the main objects.
func (a *app) meta() (all []*metav1.ObjectMeta) {
	switch {
	case a.Volcano != nil:
		return append(all, &a.Volcano.ObjectMeta)
	case a.JobSet != nil:
		return append(all, &a.JobSet.ObjectMeta)
	}
	for i := range a.Jobs {
		all = append(all, &a.Jobs[i].ObjectMeta)
	}
	return all
}

// pods returns the pod templates of the main objects.
func (a *app) pods() (all []manifest.PodSet) {
	switch {
	case a.Volcano != nil:
		return manifest.VolcanoPods(&a.Volcano.Spec)
	case a.JobSet != nil:
		return manifest.JobSetPods(&a.JobSet.Spec)
	}
	for i := range a.Jobs {
		all = append(all, manifest.JobPods(a.Jobs[i].Name, &a.Jobs[i].Spec))
	}
	return all
}

// labels returns the labels that mark an app of torchx or TorchX, nil if neither submitted
// it. TorchX labels only pods.
func (a *app) labels() map[string]string {
	if l := a.meta()[0].Labels; l[kube.LabelManagedBy] == kube.Manager {
		return l
	}
	if a.Volcano != nil {
		for _, p := range a.pods() {
			if p.Labels[kube.LabelManagedBy] == kube.Manager {
				return p.Labels
			}
		}
	}
	return nil
}

// selector returns the selector of an app's pods, also if torchx did not submit the app.
func (a *app) selector(name string) string {
	switch {
	case a.Volcano != nil && a.labels() == nil:
		return kube.LabelVolcanoJob + "=" + name
	case a.JobSet != nil && a.labels() == nil:
		return kube.LabelJobSetName + "=" + name
	}
	return kube.AppSelector(name)
}

// record returns the submission in the app's annotation; its App is nil if there is none.
func (a *app) record() *manifest.Record {
	for _, meta := range a.meta() {
		if r, err := manifest.DecodeRecord(meta.Annotations[kube.AnnotationApp]); err == nil {
			return r
		}
	}
	return &manifest.Record{}
}

// state returns the app's state as its controllers report it; the pods may be ahead.
func (a *app) state() spec.State {
	main := a.Observation
	if a.form == manifest.FormJob { // one of its Jobs may be missing
		main.App = a.record().App
	}
	return main.State()
}

// Submission returns the annotation of an app, or else what can be rebuilt from its pod
// templates. Errors: ErrNotFound, ErrUnavailable.
func (b *Backend) Submission(ctx context.Context, id string) (*backend.Submission, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	if err != nil {
		return nil, err
	}
	if r := a.record(); r.App != nil {
		return &backend.Submission{
			App: r.App, Cfg: r.Cfg, Component: r.Component, Args: r.Args,
			ParentRunID: r.ParentRunID, RerunOf: r.RerunOf, Labels: r.Labels,
		}, nil
	}
	return &backend.Submission{App: manifest.Rebuild(t.name, a.pods()), Partial: true}, nil
}
