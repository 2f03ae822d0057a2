package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// validate makes the server check everything before anything is created. Controllers
// create pods only later, and their refusals are hard to find then, so a pod of each role
// is checked too.
func (s *submission) validate(ctx context.Context, app *spec.App) error {
	if job, ok := s.request.Objects[0].(*manifest.VolcanoJob); ok {
		if err := s.checkVolcano(ctx, &job.Spec); err != nil {
			return err
		}
	}
	if err := s.checkKueue(ctx); err != nil {
		return err
	}
	if err := s.checkEnvironments(ctx); err != nil {
		return err
	}
	if err := s.request.CheckSize(); err != nil {
		return err
	}
	for _, o := range s.request.Objects {
		created := kube.Object{}
		if err := s.dryCreate(ctx, kube.Of(o.Type().APIVersion, o.Type().Kind), o, &created); err != nil {
			return s.request.ExplainTooLarge(explainOrder(err))
		}
		if err := s.request.CheckKueue(created.Labels[kube.LabelKueue]); err != nil {
			return err
		}
	}
	checked := map[string]bool{}
	for _, p := range s.request.PodSets() {
		if role := p.Labels[kube.LabelRoleIndex]; !checked[role] {
			checked[role] = true
			if err := s.checkPod(ctx, p.Template); err != nil {
				return err
			}
		}
	}
	return s.checkQuotas(ctx, app)
}

// checkOrder checks that the cluster keeps the order of roles: an old JobSet drops it silently.
func (s *submission) checkOrder(ctx context.Context) error {
	main := s.request.Objects[0]
	return explainOrder(s.dryCreate(ctx, kube.Of(main.Type().APIVersion, main.Type().Kind), main, nil))
}

// explainOrder explains that a JobSet is too old for depends_on.
func explainOrder(err error) error {
	if err == nil || !strings.Contains(err.Error(), "unknown field") ||
		!strings.Contains(err.Error(), "dependsOn") {
		return err
	}
	return backend.Errorf(err, "the cluster's JobSet does not serve depends_on: install JobSet 0.8 or later, or use the backend local or docker")
}

// dryCreate checks that the server would accept an object. created, if not nil, receives the object
// as webhooks change it.
func (s *submission) dryCreate(ctx context.Context, r kube.Resource, o, created any) error {
	err := s.Create(ctx, r, s.namespace, o, true, created)
	if err != nil && strings.Contains(err.Error(), "does not support dry run") {
		s.progress.Tell(backend.Step{Warning: "the cluster cannot check the app before it is created: " + err.Error()})
		return nil
	}
	return err
}

// checkName is the prefix of the names of pods that are only checked.
const checkName = "torchx-check-"

// checkPod checks that the server would accept a pod of a template: its service account,
// priority class, quotas, limits and policies. It is skipped for users who may not create
// pods.
func (s *submission) checkPod(ctx context.Context, t *manifest.Template) error {
	pod := corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: *t.ObjectMeta.DeepCopy(), Spec: t.Spec}
	pod.GenerateName, pod.Namespace = checkName, s.namespace
	err := s.dryCreate(ctx, kube.Pods, pod, nil)
	if err == nil || errors.Is(err, kube.ErrForbidden) {
		return nil
	}
	// The name would confuse the user: no pod of the app has it.
	text := strings.Replace(err.Error(), `pods "`+checkName+`" is forbidden: `, "", 1)
	return backend.Errorf(err, "pods of role %s would be refused: %s", t.Labels[kube.LabelRole], text)
}

// checkVolcano checks that the queue and priority class of a Volcano Job exist. Volcano's
// webhook does so, too, but may not be installed.
func (s *submission) checkVolcano(ctx context.Context, job *kube.VolcanoSpec) error {
	queue := kube.VolcanoQueue{}
	err := s.Get(ctx, kube.VolcanoQueues, "", job.Queue, &queue)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("%s has no Volcano queue %s: choose another by -cfg queue=NAME%s",
			s.Client, job.Queue, s.queues(ctx))
	case err == nil && queue.IsClosed():
		return fmt.Errorf("the Volcano queue %s is %s: choose another by -cfg queue=NAME%s",
			job.Queue, strings.ToLower(queue.Status.State), s.queues(ctx))
	case err != nil && !errors.Is(err, kube.ErrForbidden):
		return err
	}
	if job.PriorityClassName == "" {
		return nil
	}
	err = s.Get(ctx, kube.PriorityClasses, "", job.PriorityClassName, nil)
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return fmt.Errorf("%s has no priority class %s: choose another by -cfg priority_class=NAME, see `kubectl get priorityclasses`", s.Client, job.PriorityClassName)
	case errors.Is(err, kube.ErrForbidden):
		return nil
	}
	return err
}

// queues returns the names of Volcano's queues, for an error.
func (s *submission) queues(ctx context.Context) string {
	list, err := kube.List[kube.VolcanoQueue](ctx, s.Client, kube.VolcanoQueues,
		"", kube.ListOptions{})
	if err != nil {
		return ""
	}
	var names []string
	for i := range list {
		names = append(names, list[i].Name)
	}
	return namesText(names)
}

// checkQuotas compares the demand of all replicas with the quotas of the namespace. The
// server checks them pod by pod, and the last pods would never be created. It only warns if
// the quota suffices but is in use, or if the app can run with fewer replicas. It is skipped
// for users who may not read quotas.
func (s *submission) checkQuotas(ctx context.Context, app *spec.App) error {
	quotas, err := kube.List[corev1.ResourceQuota](ctx, s.Client, kube.ResourceQuotas,
		s.namespace, kube.ListOptions{})
	if errors.Is(err, kube.ErrForbidden) {
		return nil
	}
	if err != nil || len(quotas) == 0 {
		return err
	}
	demand := s.request.Demand()
	for i := range quotas {
		q := &quotas[i]
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue // it may not apply to these pods
		}
		never, now := compareQuota(q, demand)
		switch {
		case never != "" && manifest.NeedsAll(app):
			return backend.Errorf(kube.ErrRefused,
				"%s: %s: use fewer or smaller replicas, or another namespace", s.Client, never)
		case never+now != "":
			s.progress.Tell(backend.Step{Warning: cmp.Or(never, now) + ": some replicas will wait"})
		}
	}
	return nil
}

// compareQuota describes a demand that a quota can never meet, and a demand that it cannot
// meet now; "" if it can.
func compareQuota(q *corev1.ResourceQuota, demand corev1.ResourceList) (never, now string) {
	hard := q.Status.Hard
	if hard == nil {
		hard = q.Spec.Hard
	}
	for _, name := range slices.Sorted(maps.Keys(hard)) {
		all, most, used := demand[name], hard[name], q.Status.Used[name]
		if all.IsZero() {
			continue
		}
		amount := func(n resource.Quantity) string {
			base := strings.TrimPrefix(strings.TrimPrefix(string(name), "requests."), "limits.")
			return observe.Amount(corev1.ResourceName(base), n)
		}
		text := fmt.Sprintf("all replicas together need %s %s, but quota %s of namespace %s allows %s", name, amount(all), q.Name, q.Namespace, amount(most))
		if all.Cmp(most) > 0 {
			return text, ""
		}
		if all.Add(used); now == "" && all.Cmp(most) > 0 {
			now = text + ", of which " + amount(used) + " is in use"
		}
	}
	return "", now
}
