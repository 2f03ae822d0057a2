package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/backends/kubernetes/observe"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// checkQuotas compares what all replicas ask for together with the quotas of the
// namespace, which the server looks at pod by pod: the last ones would never be made.
// What a quota can hold, but does not now, is a warning, and so is what an app can do
// without. Who may not read quotas is told nothing.
func (s *submission) checkQuotas(ctx context.Context, req *manifest.Request, app *spec.App) error {
	list, err := kube.ListAll[corev1.ResourceQuota](ctx, s.Client, kube.ResourceQuotas, s.namespace, kube.ListOptions{})
	if errors.Is(err, kube.ErrForbidden) {
		return nil
	}
	if err != nil || len(list.Items) == 0 {
		return err
	}
	need := req.Demand()
	for i := range list.Items {
		q := &list.Items[i]
		if len(q.Spec.Scopes) > 0 || q.Spec.ScopeSelector != nil {
			continue // it may not be about these pods
		}
		never, now := compareQuota(q, need)
		switch {
		case never != "" && allAtOnce(app):
			return backend.Errorf(kube.ErrRefused, "%s: %s: use fewer or smaller replicas, or another namespace", s.Client, never)
		case never+now != "":
			s.progress.Tell(backend.Step{Warning: cmp.Or(never, now) + ": some replicas will wait"})
		}
	}
	return nil
}

// allAtOnce tells whether the app needs all replicas at the same time.
func allAtOnce(app *spec.App) bool {
	return !slices.ContainsFunc(app.Roles, func(r spec.Role) bool { return manifest.Required(&r) < r.NumReplicas })
}

// compareQuota says what a quota can never hold, and what it does not hold now; ""
// is nothing.
func compareQuota(q *corev1.ResourceQuota, need corev1.ResourceList) (never, now string) {
	hard := q.Status.Hard
	if hard == nil {
		hard = q.Spec.Hard
	}
	var names []corev1.ResourceName
	for name := range hard {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		all, most, used := need[name], hard[name], q.Status.Used[name]
		if all.IsZero() {
			continue
		}
		amount := func(n resource.Quantity) string {
			base := strings.TrimPrefix(strings.TrimPrefix(string(name), "requests."), "limits.")
			return observe.Amount(corev1.ResourceName(base), n)
		}
		about := fmt.Sprintf("all replicas together need %s %s, the quota %s of namespace %s allows %s", name, amount(all), q.Name, q.Namespace, amount(most))
		if all.Cmp(most) > 0 {
			return about, ""
		}
		if all.Add(used); now == "" && all.Cmp(most) > 0 {
			now = about + ", of which " + amount(used) + " is in use"
		}
	}
	return "", now
}
