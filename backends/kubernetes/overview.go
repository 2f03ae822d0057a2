package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// overview holds the main objects of all apps of a namespace. It takes one request for each
// form, two for the first one if the user may not list all namespaces.
type overview struct {
	client    *kube.Client
	namespace string // "" is all; of users with different rights for each form, that of the last
	apps      map[string]*app
	denied    map[manifest.Form]error // forms that the user may not list
	at        time.Time
}

// overviewTime is how long DescribeAll uses what List has read.
const overviewTime = 2 * time.Second

// readOverview reads the apps of the first of the namespaces that the user may list. A form
// that the cluster does not have, or the user may not list, has no apps.
func (b *Backend) readOverview(
	ctx context.Context, c *kube.Client, namespaces []string,
) (*overview, error) {
	o := &overview{client: c, apps: map[string]*app{}, denied: map[manifest.Form]error{}, at: time.Now()}
	for _, f := range manifest.Forms {
		apps, err := listForm(ctx, c, f, namespaces[0])
		for ; errors.Is(err, kube.ErrForbidden) &&
			len(namespaces) > 1; namespaces = namespaces[1:] {
			apps, err = listForm(ctx, c, f, namespaces[1])
		}
		switch {
		case errors.Is(err, kube.ErrForbidden):
			o.denied[f] = err
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
	o.namespace = namespaces[0]
	return o, nil
}

// warnDenied says once which apps a list lacks because the user may not list them.
func (b *Backend) warnDenied(ctx context.Context, o *overview) {
	if len(o.denied) == 0 {
		return
	}
	groups, err := o.client.Groups(ctx)
	if err != nil {
		return
	}
	var names []string
	for _, f := range manifest.Forms {
		if o.denied[f] != nil && groups.Has(mainResources[f]) {
			names = append(names, mainResources[f].String())
		}
	}
	if len(names) > 0 {
		b.warnOnce(fmt.Sprintf("%s: you may not list %s, so their apps are missing", o.client, strings.Join(names, ", ")))
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
	if o == nil || o.client != c || o.namespace != "" && o.namespace != namespace ||
		time.Since(o.at) > overviewTime {
		return nil
	}
	b.listed = nil
	return o
}

// DescribeAll implements backend.BatchDescriber: for each cluster and namespace it makes one
// request for each form, one for the pods and one for the events.
func (b *Backend) DescribeAll(ctx context.Context, ids []string) (map[string]*spec.Status, error) {
	r := &reading{found: map[string]*spec.Status{}}
	byClient := map[*kube.Client][]*target{}
	for _, id := range ids {
		t, err := b.target(ctx, id)
		switch {
		case errors.Is(err, backend.ErrInvalidOption): // of another program; the cluster cannot have it
			r.gone = append(r.gone, id)
		case err != nil:
			r.failed = cmp.Or(r.failed, err)
		default:
			byClient[t.Client] = append(byClient[t.Client], t)
		}
	}
	for c, targets := range byClient {
		r.failed = cmp.Or(r.failed, b.describeOn(ctx, c, targets, r))
	}
	if r.failed != nil {
		for _, id := range r.gone {
			r.found[id] = nil
		}
	}
	return r.found, r.failed
}

// reading is what DescribeAll has read.
type reading struct {
	found  map[string]*spec.Status
	gone   []string // apps that their clusters do not have
	failed error    // the first one
}

// describeOn reads the apps of one cluster.
func (b *Backend) describeOn(
	ctx context.Context, c *kube.Client, targets []*target, r *reading,
) error {
	isElsewhere := func(t *target) bool { return t.namespace != targets[0].namespace }
	several := slices.ContainsFunc(targets, isElsewhere)
	for len(targets) > 0 {
		o := b.takeOverview(c, targets[0].namespace)
		if o == nil {
			var err error
			if o, err = b.readOverview(ctx, c, allOr(targets[0].namespace, several)); err != nil {
				return err
			}
		}
		var covered, others []*target
		for _, t := range targets {
			if o.namespace == "" || o.namespace == t.namespace {
				covered = append(covered, t)
			} else {
				others = append(others, t)
			}
		}
		if err := o.describe(ctx, covered, r); err != nil {
			return err
		}
		targets = others
	}
	return nil
}

// allOr returns the namespaces to list for apps of a namespace, or of several.
func allOr(namespace string, several bool) []string {
	if several {
		return []string{"", namespace}
	}
	return []string{namespace}
}

// describe adds the statuses of apps to what is read.
func (o *overview) describe(ctx context.Context, targets []*target, r *reading) error {
	var missing []*target
	targets = slices.DeleteFunc(targets, func(t *target) bool {
		if o.apps[t.id] == nil {
			missing = append(missing, t)
		}
		return o.apps[t.id] == nil
	})
	o.addMissing(ctx, missing, r)
	if len(targets) == 0 {
		return nil
	}
	pods, err := o.pods(ctx, targets)
	hidden := errors.Is(err, kube.ErrForbidden)
	if err != nil && !hidden {
		return err
	}
	o.addWorkloads(ctx, targets)
	for _, t := range targets {
		a := o.apps[t.id]
		a.App, a.Pods, a.PodsHidden = a.record().App, pods[t.id], hidden
	}
	events := o.events(ctx, targets)
	removed := map[string]func() (time.Time, bool){} // by namespace, each read once for all apps
	for _, t := range targets {
		if removed[t.namespace] == nil {
			removed[t.namespace] = sync.OnceValues(func() (time.Time, bool) { return t.namespaceRemoved(ctx) })
		}
		a := o.apps[t.id]
		a.Events = warnings(events[t.namespace])
		addNamespace(&a.Observation, removed[t.namespace])
		r.found[t.id] = t.status(&a.Observation)
		t.observers.Notify(t.id, r.found[t.id])
	}
	return nil
}

// events returns the events that the statuses of apps need, by namespace, in one request. A
// status is valid without them.
func (o *overview) events(ctx context.Context, targets []*target) map[string][]corev1.Event {
	all := map[string][]corev1.Event{}
	needs := func(needs func(*app) bool) bool {
		return slices.ContainsFunc(targets, func(t *target) bool { return needs(o.apps[t.id]) })
	}
	options := kube.ListOptions{Cached: true}
	if !needs(func(a *app) bool { return len(a.MissingRoles()) > 0 }) {
		if !needs(func(a *app) bool { return a.Unclear() }) {
			return all
		}
		options.FieldSelector = "type=" + corev1.EventTypeWarning
	}
	list, _ := kube.List[corev1.Event](ctx, o.client, kube.Events, o.namespace, options)
	for i := range list {
		all[list[i].Namespace] = append(all[list[i].Namespace], list[i])
	}
	for _, t := range targets {
		t.setExpired(&o.apps[t.id].Observation, all[t.namespace])
	}
	return all
}

// warnings returns the events that report a problem.
func warnings(all []corev1.Event) []corev1.Event {
	return slices.DeleteFunc(slices.Clone(all), func(e corev1.Event) bool { return e.Type != corev1.EventTypeWarning })
}

// addMissing notes which of the apps that no list has do not exist. Others may have a form that
// the user may not list; without a recorded form, their pods show it.
func (o *overview) addMissing(ctx context.Context, missing []*target, r *reading) {
	var pods map[string][]corev1.Pod
	if isUnknown := func(t *target) bool { return t.form() == "" }; len(o.denied) > 0 && slices.ContainsFunc(missing, isUnknown) {
		pods, _ = o.pods(ctx, missing) // without them, none of these apps exists
	}
	for _, t := range missing {
		if err := deniedAs(o.denied, cmp.Or(t.form(), formOf(pods[t.id]))); err != nil {
			r.failed = cmp.Or(r.failed, err)
		} else {
			r.gone = append(r.gone, t.id)
		}
	}
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
		selector += "," + kube.LabelInstance + " in (" + strings.Join(slices.Sorted(maps.Keys(names)), ",") + ")"
	}
	list, err := kube.List[corev1.Pod](ctx, o.client, kube.Pods, o.namespace,
		kube.ListOptions{LabelSelector: selector, Whole: true})
	if err != nil {
		return nil, err
	}
	byApp := map[string][]corev1.Pod{}
	for i := range list {
		id := manifest.AppID(list[i].Namespace, list[i].Labels[kube.LabelInstance])
		byApp[id] = append(byApp[id], list[i])
	}
	return byApp, nil
}

// mainResources holds the main objects of each form.
var mainResources = map[manifest.Form]kube.Resource{manifest.FormVolcano: kube.VolcanoJobs, manifest.FormJobSet: kube.JobSets, manifest.FormJob: kube.Jobs}
