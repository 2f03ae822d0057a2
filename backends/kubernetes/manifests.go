package kubernetes

import (
	"context"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
)

// Manifests implements backend.ManifestReader: the app's objects as the cluster has them, the main
// ones first, without what the cluster added, so that `kubectl apply` creates the app again. Errors:
// ErrNotFound, ErrUnavailable.
func (b *Backend) Manifests(ctx context.Context, id string) ([]any, error) {
	t, err := b.target(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := t.find(ctx)
	if err != nil {
		return nil, unreadable(err)
	}
	var all []any
	read := func(r kube.Resource, names ...string) error {
		for _, name := range names {
			object := map[string]any{}
			if err := t.Get(ctx, r, t.namespace, name, &object); err != nil {
				return unreadable(err)
			}
			all = append(all, asSubmitted(object))
		}
		return nil
	}
	var names []string
	for _, m := range a.meta() {
		names = append(names, m.Name)
	}
	if err := read(mainResources[a.form], names...); err != nil {
		return nil, err
	}
	services, err := kube.List[metav1.PartialObjectMetadata](ctx, t.Client, kube.Services, t.namespace,
		kube.ListOptions{LabelSelector: kube.AppSelector(t.name) + "," + managed})
	if err != nil || a.form == manifest.FormJobSet { // JobSet creates its own
		return all, unreadable(err)
	}
	for i := range services {
		if err := read(kube.Services, services[i].Name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// Names of what the API server and its controllers add to an object.
var (
	addedMetadata = []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences", "finalizers", "selfLink"}
	addedSpec     = map[string][]string{
		"Job":     {"selector"},
		"Service": {"clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy", "sessionAffinity"},
	}
	addedLabels = []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"}
)

// asSubmitted removes from an object what the cluster added.
func asSubmitted(object map[string]any) map[string]any {
	delete(object, "status")
	kind, _ := object["kind"].(string)
	spec := member(object, "spec")
	remove(spec, addedSpec[kind])
	if ip, _ := spec["clusterIP"].(string); ip != "" && ip != "None" {
		delete(spec, "clusterIP") // another one is free later
	}
	meta := member(object, "metadata")
	remove(meta, addedMetadata)
	maps.DeleteFunc(member(meta, "annotations"), func(name string, _ any) bool {
		return strings.HasPrefix(name, "kubectl.kubernetes.io/") || strings.HasPrefix(name, "batch.kubernetes.io/")
	})
	if kind == "Job" {
		pods := member(member(spec, "template"), "metadata")
		for _, labels := range []map[string]any{member(meta, "labels"), member(pods, "labels")} {
			remove(labels, addedLabels)
		}
		delete(pods, "creationTimestamp")
	}
	return object
}

func remove(from map[string]any, names []string) {
	maps.DeleteFunc(from, func(name string, _ any) bool { return slices.Contains(names, name) })
}

// member returns an object's member that is an object, nil if it has none.
func member(object map[string]any, name string) map[string]any {
	v, _ := object[name].(map[string]any)
	return v
}
