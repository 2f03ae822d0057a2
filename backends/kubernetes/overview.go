package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

var _ backend.BatchDescriber = (*Backend)(nil)

// overview holds the main objects of all apps of a namespace. It takes one request for each
// form, two for the first one if the user may not list all namespaces.
type overview struct {
	client    *kube.Client
	namespace string // "" is all; of users with different rights for each form, that of the last
	apps      map[string]*app
	at        time.Time
}

// overviewTime is how long DescribeAll uses what List has read.
const overviewTime = 2 * time.Second

// readOverview reads the apps of the first of the namespaces that the user may list. A form
// that the cluster does not have, or the user may not list, has no apps.
func (b *Backend) readOverview(ctx context.Context, c *kube.Client, namespaces []string) (*overview, error) {
	o := &overview{client: c, apps: map[string]*app{}, at: time.Now()}
	var denied []manifest.Form
	var why error
	for _, f := range manifest.Forms {
		apps, err := listForm(ctx, c, f, namespaces[0])
		for ; errors.Is(err, kube.ErrForbidden) && len(namespaces) > 1; namespaces = namespaces[1:] {
			apps, err = listForm(ctx, c, f, namespaces[1])
		}
		switch {
		case errors.Is(err, kube.ErrForbidden):
			denied, why = append(denied, f), err
		case err != nil && !errors.Is(err, backend.ErrNotFound):
			return nil, err
		}
		for _, a := range apps {
			if a.labels() != nil {
				a.form = f
				o.apps[a.id()] = a
			}
		}
	}
	if len(denied) == len(manifest.Forms) {
		return nil, why
	}
	o.namespace = namespaces[0]
	b.warnDenied(ctx, c, denied)
	return o, nil
}

// warnDenied says once which apps a list lacks because the user may not list them.
func (b *Backend) warnDenied(ctx context.Context, c *kube.Client, forms []manifest.Form) {
	if len(forms) == 0 {
		return
	}
	groups, err := c.Groups(ctx)
	if err != nil {
		return
	}
	var names []string
	for _, f := range forms {
		if groups.Has(mainResources[f]) {
			names = append(names, mainResources[f].String())
		}
	}
	if len(names) > 0 {
		b.warnOnce(fmt.Sprintf("%s: you may not list %s, so their apps are missing", c, strings.Join(names, ", ")))
	}
}

// keepOverview keeps what List has read for the DescribeAll that follows.
func (b *Backend) keepOverview(o *overview) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listed = o
}

// takeOverview returns what List has just read of a namespace, nil if it has not.
func (b *Backend) takeOverview(c *kube.Client, namespace string) *overview {
	b.mu.Lock()
	defer b.mu.Unlock()
	o := b.listed
	if o == nil || o.client != c || o.namespace != "" && o.namespace != namespace || time.Since(o.at) > overviewTime {
		return nil
	}
	b.listed = nil
	return o
}

// DescribeAll implements backend.BatchDescriber: for each cluster and namespace it makes one
// request for each form, one for the pods and one for the events.
func (b *Backend) DescribeAll(ctx context.Context, ids []string) (map[string]*spec.Status, error) {
	type place struct {
		client    *kube.Client
		namespace string
	}
	places := map[place][]*target{}
	for _, id := range ids {
		t, err := b.target(ctx, id)
		if errors.Is(err, backend.ErrInvalidOption) {
			continue // of another program; the cluster cannot have it
		}
		if err != nil {
			return nil, err
		}
		at := place{t.Client, t.namespace}
		places[at] = append(places[at], t)
	}
	found := map[string]*spec.Status{}
	var all *overview // of all namespaces of the last cluster
	for at, targets := range places {
		o := all
		if o == nil || o.client != at.client {
			if o = b.takeOverview(at.client, at.namespace); o == nil {
				var err error
				if o, err = b.readOverview(ctx, at.client, allOr(at.namespace, len(places))); err != nil {
					return found, err
				}
			}
		}
		if o.namespace == "" {
			all = o
			targets = nil
			for other, more := range places {
				if other.client == at.client {
					targets = append(targets, more...)
				}
			}
		}
		if err := o.describe(ctx, targets, found); err != nil {
			return found, err
		}
		if all != nil && len(targets) == len(ids) {
			break
		}
	}
	return found, nil
}

// allOr returns the namespaces to list for apps of one of several places.
func allOr(namespace string, places int) []string {
	if places > 1 {
		return []string{"", namespace}
	}
	return []string{namespace}
}

// describe adds the statuses of apps to found.
func (o *overview) describe(ctx context.Context, targets []*target, found map[string]*spec.Status) error {
	targets = slices.DeleteFunc(slices.Clone(targets), func(t *target) bool { return o.apps[t.id] == nil || found[t.id] != nil })
	if len(targets) == 0 {
		return nil
	}
	pods, err := o.pods(ctx, targets)
	hidden := errors.Is(err, kube.ErrForbidden)
	if err != nil && !hidden {
		return err
	}
	o.addWorkloads(ctx, targets)
	unclear := false
	for _, t := range targets {
		a := o.apps[t.id]
		a.App, a.Pods, a.PodsHidden = a.record().App, pods[t.id], hidden
		t.addExpired(ctx, &a.Observation)
		unclear = unclear || a.Unclear()
	}
	events := map[string][]corev1.Event{} // by namespace
	if unclear {
		list, _ := kube.List[corev1.Event](ctx, o.client, kube.Events, o.namespace, kube.ListOptions{FieldSelector: "type=" + corev1.EventTypeWarning, Cached: true}) // a status is valid without them
		for i := range list {
			events[list[i].Namespace] = append(events[list[i].Namespace], list[i])
		}
	}
	for _, t := range targets {
		a := o.apps[t.id]
		a.Events = events[t.namespace]
		found[t.id] = t.status(&a.Observation)
		t.observers.Notify(t.id, found[t.id])
	}
	return nil
}

// maxNamed is the number of apps that a selector names; of more apps all pods are read.
const maxNamed = 50

// pods returns the pods of apps, by ID. Errors: ErrForbidden.
func (o *overview) pods(ctx context.Context, targets []*target) (map[string][]corev1.Pod, error) {
	selector := managed
	if len(targets) <= maxNamed {
		names := map[string]bool{}
		for _, t := range targets {
			names[t.name] = true
		}
		selector += "," + label.Instance + " in (" + strings.Join(slices.Sorted(maps.Keys(names)), ",") + ")"
	}
	list, err := kube.List[corev1.Pod](ctx, o.client, kube.Pods, o.namespace, kube.ListOptions{LabelSelector: selector, Whole: true})
	if err != nil {
		return nil, err
	}
	byApp := map[string][]corev1.Pod{}
	for i := range list {
		id := manifest.AppID(list[i].Namespace, list[i].Labels[label.Instance])
		byApp[id] = append(byApp[id], list[i])
	}
	return byApp, nil
}

// mainResources holds the main objects of each form.
var mainResources = map[manifest.Form]kube.Resource{manifest.FormVolcano: kube.VolcanoJobs, manifest.FormJobSet: kube.JobSets, manifest.FormJob: kube.Jobs}
