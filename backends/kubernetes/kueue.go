package kubernetes

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/runtime/backend"
)

// kueueJobUID is the label of a Kueue Workload with the UID of the Job or JobSet that
// it is for (kueue, pkg/controller/constants).
const kueueJobUID = "kueue.x-k8s.io/job-uid"

// deactivate takes back what Kueue has admitted of an app: it would start a suspended
// job again that somebody else suspended.
func (t *target) deactivate(ctx context.Context, all []*metav1.ObjectMeta) error {
	var workloads kube.Resource
	for _, meta := range all {
		if meta.Labels[label.Kueue] == "" {
			continue
		}
		if workloads.Name == "" {
			groups, err := t.Groups(ctx)
			if err != nil {
				return err
			}
			if len(groups[kueueGroup]) == 0 {
				return nil // nobody would start it
			}
			workloads = kube.Resource{Group: kueueGroup, Version: groups[kueueGroup][0], Name: "workloads"}
		}
		list, err := kube.ListAll[kube.Object](ctx, t.Client, workloads, t.namespace, kube.ListOptions{LabelSelector: kueueJobUID + "=" + string(meta.UID)})
		if err != nil {
			return err
		}
		for i := range list.Items {
			err := t.Patch(ctx, workloads, t.namespace, list.Items[i].Name, "", map[string]any{"spec": map[string]any{"active": false}})
			if err != nil && !errors.Is(err, backend.ErrNotFound) {
				return err
			}
		}
	}
	return nil
}
