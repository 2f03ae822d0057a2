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
	"torchx/backends/kubernetes/label"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
)

// addWorkloads adds what Kueue says about an app that it queues. Errors, such as missing rights,
// are ignored: only the attempts that Kueue ended are unknown then.
func (t *target) addWorkloads(ctx context.Context, seen *observe.Observation) {
	a := app{Observation: *seen}
	var uids []string
	for _, m := range a.meta() {
		if m.Labels[label.Kueue] != "" {
			uids = append(uids, string(m.UID))
		}
	}
	if len(uids) == 0 {
		return
	}
	if t.workloads == nil {
		r, ok := findWorkloads(ctx, t.Client)
		if !ok {
			return
		}
		t.workloads = &r
	}
	selector := label.KueueJobUID + " in (" + strings.Join(uids, ",") + ")"
	if list, err := kube.List[kube.Workload](ctx, t.Client, *t.workloads, t.namespace, kube.ListOptions{LabelSelector: selector, Whole: true}); err == nil {
		seen.Workloads = list
	}
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
			if m.Labels[label.Kueue] != "" {
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
	list, _ := kube.List[kube.Workload](ctx, o.client, r, o.namespace, kube.ListOptions{LabelSelector: label.KueueJobUID, Whole: true})
	for i := range list {
		if a := byJob[list[i].Labels[label.KueueJobUID]]; a != nil {
			a.Workloads = append(a.Workloads, list[i])
		}
	}
}

// deactivate revokes Kueue's admission of an app: Kueue would resume a job that another
// client suspended.
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
			served, ok := kube.KueueResource(groups, "workloads")
			if !ok {
				return nil // nothing resumes it
			}
			workloads = served
		}
		list, err := kube.List[kube.Object](ctx, t.Client, workloads, t.namespace, kube.ListOptions{LabelSelector: label.KueueJobUID + "=" + string(meta.UID)})
		if err != nil {
			return err
		}
		for i := range list {
			err := t.Patch(ctx, workloads, t.namespace, list[i].Name, "", map[string]any{"spec": map[string]any{"active": false}})
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
	return map[string]any{label.KueueWorkload: noQueue},
		map[string]any{label.KueueWorkload: nil, label.Kueue: noQueue, label.KueueTimeLimit: "1"}
}

// kueueQueue is a kueue.x-k8s.io LocalQueue.
type kueueQueue struct {
	kube.Object
	Status struct {
		Conditions []metav1.Condition `json:"conditions"`
	} `json:"status"`
}

// checkKueue checks that the queue and the priority class of an app exist: Kueue would hold the
// app back without an end. It warns about a queue that admits nothing now.
func (s *submission) checkKueue(ctx context.Context) error {
	labels := s.request.Objects[0].Meta().Labels
	queue, priority := labels[label.Kueue], labels[label.KueuePriority]
	if queue == "" {
		return nil
	}
	groups, err := s.Groups(ctx)
	if err != nil {
		return err
	}
	queues, ok := kube.KueueResource(groups, "localqueues")
	if !ok {
		return fmt.Errorf("%s has no Kueue, which kueue_queue=%s needs: install it, or leave out kueue_queue", s.Client, queue)
	}
	found := kueueQueue{}
	err = s.Get(ctx, queues, s.namespace, queue, &found)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("namespace %s has no Kueue queue %s: choose another by -cfg kueue_queue=NAME%s", s.namespace, queue, s.localQueues(ctx, queues))
	case err != nil && !errors.Is(err, kube.ErrForbidden):
		return err
	}
	if c := meta.FindStatusCondition(found.Status.Conditions, "Active"); c != nil && c.Status == metav1.ConditionFalse {
		s.progress.Tell(backend.Step{Warning: fmt.Sprintf("Kueue queue %s admits nothing now (%s): the app will wait", queue, strings.TrimSuffix(c.Message, "."))})
	}
	if priority == "" {
		return nil
	}
	classes, _ := kube.KueueResource(groups, "workloadpriorityclasses")
	err = s.Get(ctx, classes, "", priority, nil)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("%s has no Kueue priority class %s: choose another by -cfg kueue_priority=NAME, see `kubectl get workloadpriorityclasses`", s.Client, priority)
	case errors.Is(err, kube.ErrForbidden):
		return nil
	}
	return err
}

// localQueues returns the names of the namespace's Kueue queues, for an error.
func (s *submission) localQueues(ctx context.Context, r kube.Resource) string {
	list, err := kube.List[kueueQueue](ctx, s.Client, r, s.namespace, kube.ListOptions{})
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
