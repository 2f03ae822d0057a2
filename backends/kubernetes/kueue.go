package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// addWorkloads adds what Kueue says about an app that it queues. Errors are ignored: only the
// attempts that Kueue ended, and why the app waits, are unknown then. Of a waiting app, a missing
// right is said once. It reports whether another request could tell more.
func (t *target) addWorkloads(ctx context.Context, seen *observe.Observation) (again bool) {
	a := app{Observation: *seen}
	var uids []string
	for _, m := range a.meta() {
		if m.Labels[kube.LabelKueue] != "" {
			uids = append(uids, string(m.UID))
		}
	}
	if len(uids) == 0 {
		return false
	}
	if t.workloads == nil {
		r, ok := findWorkloads(ctx, t.Client)
		if !ok {
			return false
		}
		t.workloads = &r
	}
	selector := kube.LabelKueueJobUID + " in (" + strings.Join(uids, ",") + ")"
	list, err := kube.List[kube.Workload](ctx, t.Client, *t.workloads, t.namespace,
		kube.ListOptions{LabelSelector: selector, Whole: true})
	if errors.Is(err, kube.ErrForbidden) && seen.State() == spec.Pending {
		t.warnOnce(fmt.Sprintf("%s: you may not list %s in namespace %s, so why Kueue holds the app back is missing", t.Client, t.workloads, t.namespace))
	}
	seen.Workloads = list
	return err != nil && !errors.Is(err, kube.ErrForbidden)
}

// findWorkloads returns the resource of Kueue's workloads; ok is false if it cannot be found.
func findWorkloads(ctx context.Context, c *kube.Client) (r kube.Resource, ok bool) {
	groups, err := c.Groups(ctx)
	if err != nil {
		return r, false
	}
	return kube.KueueResource(groups, "workloads")
}

// addWorkloads is target.addWorkloads for all apps, in two requests.
func (o *overview) addWorkloads(ctx context.Context, targets []*target) {
	byJob := map[string]*app{} // by UID
	for _, t := range targets {
		for _, m := range o.apps[t.id].meta() {
			if m.Labels[kube.LabelKueue] != "" {
				byJob[string(m.UID)] = o.apps[t.id]
			}
		}
	}
	if len(byJob) == 0 {
		return
	}
	r, ok := findWorkloads(ctx, o.client)
	if !ok {
		return
	}
	list, _ := kube.List[kube.Workload](ctx, o.client, r, o.namespace,
		kube.ListOptions{LabelSelector: kube.LabelKueueJobUID, Whole: true})
	for i := range list {
		if a := byJob[list[i].Labels[kube.LabelKueueJobUID]]; a != nil {
			a.Workloads = append(a.Workloads, list[i])
		}
	}
}

// deactivate revokes Kueue's admission of an app: Kueue would resume a job that another
// client suspended.
func (t *target) deactivate(ctx context.Context, all []*metav1.ObjectMeta) error {
	var workloads kube.Resource
	for _, meta := range all {
		if meta.Labels[kube.LabelKueue] == "" {
			continue
		}
		if workloads.Name == "" {
			groups, err := t.Groups(ctx)
			if err != nil {
				return err
			}
			served, ok := kube.KueueResource(groups, "workloads")
			if !ok {
				return nil // nothing resumes it
			}
			workloads = served
		}
		list, err := kube.List[kube.Object](ctx, t.Client, workloads, t.namespace,
			kube.ListOptions{LabelSelector: kube.LabelKueueJobUID + "=" + string(meta.UID)})
		if err != nil {
			return err
		}
		for i := range list {
			err := t.Patch(ctx, workloads, t.namespace, list[i].Name, "",
				map[string]any{"spec": map[string]any{"active": false}})
			if ignoreMissing(err) != nil {
				return err
			}
		}
	}
	return nil
}

// noQueue is the name of a Kueue queue and of a workload that do not exist.
const noQueue = "torchx-cancelled"

// leaveQueue returns the labels by which a user who may not change Kueue's workloads keeps a job
// suspended. The first ones, set with the suspension, name a workload that does not exist: Kueue
// resumes a job only for its workload, and does not let a running one change queues. The second
// ones move it to a queue that does not exist, with another time limit than that of its workload,
// which Kueue therefore deletes: until then it holds the quota.
func leaveQueue() (hold, release map[string]any) {
	return map[string]any{kube.LabelKueueWorkload: noQueue},
		map[string]any{kube.LabelKueueWorkload: nil, kube.LabelKueue: noQueue, kube.LabelKueueTimeLimit: "1"}
}

// kueueQueue is a kueue.x-k8s.io LocalQueue.
type kueueQueue struct {
	kube.Object
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// checkKueue checks the queue and the priority class of an app before its submission.
func (s *submission) checkKueue(ctx context.Context) error {
	labels := s.request.Objects[0].Meta().Labels
	if labels[kube.LabelKueue] == "" {
		return nil
	}
	groups, err := s.Groups(ctx)
	if err != nil {
		return err
	}
	warning, err := checkKueue(ctx, s.Client, groups, s.namespace, labels[kube.LabelKueue],
		labels[kube.LabelKueuePriority])
	if warning != "" {
		s.progress.Tell(backend.Step{Warning: warning + ": the app will wait"})
	}
	return err
}

// checkKueue checks that a queue and a priority class of Kueue exist, which would hold back an app
// without an end. warning describes a queue that admits nothing now. What the user may not read
// is not checked.
func checkKueue(
	ctx context.Context, c *kube.Client, groups kube.Groups, namespace, queue, priority string,
) (warning string, err error) {
	queues, ok := kube.KueueResource(groups, "localqueues")
	if !ok {
		return "", fmt.Errorf("%s has no Kueue, which kueue_queue=%s needs: install it, or leave out kueue_queue", c, queue)
	}
	found := kueueQueue{}
	err = c.Get(ctx, queues, namespace, queue, &found)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return "", fmt.Errorf("namespace %s has no Kueue queue %s: choose another by -cfg kueue_queue=NAME%s", namespace, queue, localQueues(ctx, c, queues, namespace))
	case err != nil && !errors.Is(err, kube.ErrForbidden):
		return "", err
	}
	if c := meta.FindStatusCondition(found.Status.Conditions, "Active"); c != nil &&
		c.Status == metav1.ConditionFalse {
		warning = fmt.Sprintf("Kueue queue %s admits nothing now (%s)", queue,
			strings.TrimSuffix(c.Message, "."))
	}
	if priority == "" {
		return warning, nil
	}
	classes, _ := kube.KueueResource(groups, "workloadpriorityclasses")
	err = c.Get(ctx, classes, "", priority, nil)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return warning, fmt.Errorf("%s has no Kueue priority class %s: choose another by -cfg kueue_priority=NAME, see `kubectl get workloadpriorityclasses`", c, priority)
	case errors.Is(err, kube.ErrForbidden):
		return warning, nil
	}
	return warning, err
}

// localQueues returns the names of the namespace's Kueue queues, for an error.
func localQueues(ctx context.Context, c *kube.Client, r kube.Resource, namespace string) string {
	list, err := kube.List[kueueQueue](ctx, c, r, namespace, kube.ListOptions{})
	if err != nil {
		return ""
	}
	names := make([]string, 0, len(list))
	for i := range list {
		names = append(names, list[i].Name)
	}
	return namesText(names)
}

// namesText returns the first few names, for an error.
func namesText(names []string) string {
	if len(names) == 0 {
		return " (it has none)"
	}
	slices.Sort(names)
	const limit = 8
	if len(names) > limit {
		names = append(names[:limit], "...")
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}
