package kubernetes

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// Cancel stops an app and keeps its objects: a Volcano Job is aborted, all else is
// suspended. It returns when the cluster knows. An unknown or finished app, or a
// second call, does nothing.
func (b *Backend) Cancel(ctx context.Context, id string, o backend.CancelOptions) error {
	t, err := b.target(ctx, id)
	if err != nil {
		return err
	}
	a, err := t.find(ctx)
	if errors.Is(err, backend.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if !a.state().Terminal() {
		if !o.Discard {
			b.saveLogs(ctx, id)
		}
		if err := t.stop(ctx, a); err != nil && !errors.Is(err, backend.ErrNotFound) {
			return err
		}
	}
	if o.Force {
		return t.kill(ctx)
	}
	return nil
}

// stop asks the controllers to end the pods. What was asked for before is not asked
// for again, so the first time stays.
func (t *target) stop(ctx context.Context, a *app) error {
	meta := map[string]any{"annotations": map[string]string{label.Cancelled: time.Now().UTC().Format(time.RFC3339)}}
	suspend := map[string]any{"metadata": meta, "spec": map[string]any{"suspend": true}}
	if err := t.deactivate(ctx, a.meta()); err != nil {
		return err
	}
	switch a.form {
	case manifest.FormVolcano:
		if _, ok := a.volcano.Annotations[label.Cancelled]; !ok {
			if err := t.Patch(ctx, kube.VolcanoJobs, t.namespace, t.name, "", map[string]any{"metadata": meta}); err != nil {
				return err
			}
		}
		if a.volcano.Status.State.Phase == "Aborting" {
			return nil
		}
		return t.abort(ctx, a.volcano)
	case manifest.FormJobSet:
		return t.Patch(ctx, kube.JobSets, t.namespace, t.name, "", suspend)
	}
	for i := range a.jobs {
		j := &a.jobs[i]
		if jobState(j).Terminal() {
			continue
		}
		if err := t.Patch(ctx, kube.Jobs, t.namespace, j.Name, "", suspend); err != nil && !errors.Is(err, backend.ErrNotFound) {
			return err
		}
	}
	return nil
}

// command asks Volcano's controller to do something with a job (volcano.sh/apis,
// bus/v1alpha1); the controller deletes it when it has.
type command struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Action            string                 `json:"action"`
	TargetObject      *metav1.OwnerReference `json:"target"`
}

// abort ends a Volcano Job as `vcctl job suspend` does.
func (t *target) abort(ctx context.Context, j *kube.VolcanoJob) error {
	yes := true
	owner := metav1.OwnerReference{APIVersion: manifest.TypeVolcano.APIVersion, Kind: manifest.TypeVolcano.Kind, Name: j.Name, UID: j.UID, Controller: &yes}
	c := command{
		TypeMeta:   metav1.TypeMeta{APIVersion: "bus.volcano.sh/v1alpha1", Kind: "Command"},
		ObjectMeta: metav1.ObjectMeta{GenerateName: j.Name + "-abort-", Namespace: j.Namespace, OwnerReferences: []metav1.OwnerReference{owner}},
		Action:     "AbortJob", TargetObject: &owner,
	}
	err := t.Create(ctx, kube.VolcanoCommands, t.namespace, c, false, nil)
	if errors.Is(err, backend.ErrNotFound) || errors.Is(err, kube.ErrForbidden) {
		// As TorchX does it.
		return t.Patch(ctx, kube.VolcanoJobs, t.namespace, j.Name, "status", map[string]any{
			"status": map[string]any{"state": map[string]any{"phase": "Aborted"}},
		})
	}
	return err
}

// kill ends pods without a grace period.
func (t *target) kill(ctx context.Context) error {
	pods, err := t.pods(ctx)
	if err != nil {
		return err
	}
	none := int64(0)
	for i := range pods {
		if p := &pods[i]; p.Status.Phase == corev1.PodRunning || p.Status.Phase == corev1.PodPending {
			if err := t.Delete(ctx, kube.Pods, t.namespace, p.Name, p.UID, &none); err != nil && !errors.Is(err, backend.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}

// pods are those of the app.
func (t *target) pods(ctx context.Context) ([]corev1.Pod, error) {
	list, err := kube.ListAll[corev1.Pod](ctx, t.Client, kube.Pods, t.namespace, kube.ListOptions{LabelSelector: label.Selector(t.name)})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}
