package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// accessReviews is the resource that reports whether the user has a right.
var accessReviews = kube.Resource{Group: "authorization.k8s.io", Version: "v1", Name: "selfsubjectaccessreviews"}

// reviewsAtOnce bounds the concurrent requests.
const reviewsAtOnce = 8

// right is a permission that apps need.
type right struct {
	verb  string
	of    kube.Resource
	sub   string // subresource, "" if none
	minor bool   // apps run without it, but torchx explains less
}

// String returns the right as kubectl writes it: get pods/log.
func (r right) String() string {
	if r.sub == "" {
		return fmt.Sprintf("%s %s", r.verb, r.of)
	}
	return fmt.Sprintf("%s %s/%s", r.verb, r.of, r.sub)
}

// rights returns the rights that apps of the chosen form need.
func (c *checker) rights() (list []right) {
	add := func(of kube.Resource, verbs ...string) {
		for _, verb := range verbs {
			list = append(list, right{verb: verb, of: of})
		}
	}
	add(kube.Pods, "get", "list", "watch")
	list = append(list, right{verb: "get", of: kube.Pods, sub: "log"})
	add(mainResources[c.form], "create", "get", "list", "watch", "patch", "delete")
	switch c.form {
	case manifest.FormVolcano:
		list = append(list, right{verb: "create", of: kube.VolcanoCommands},
			right{verb: "list", of: kube.PodGroups, minor: true}, right{verb: "get", of: kube.VolcanoQueues, minor: true})
	case manifest.FormJob:
		add(kube.Services, "create", "patch", "delete")
	}
	if versions := c.groups[kueueGroup]; c.kueue && len(versions) > 0 {
		workloads := kube.Resource{Group: kueueGroup, Version: versions[0], Name: "workloads"}
		list = append(list, right{verb: "list", of: workloads, minor: true}, right{verb: "patch", of: workloads, minor: true})
	}
	list = append(list, right{verb: "list", of: kube.Events, minor: true}, right{verb: "list", of: kube.Nodes, minor: true})
	for _, sub := range []string{"exec", "attach", "portforward"} {
		list = append(list, right{verb: "create", of: kube.Pods, sub: sub, minor: true})
	}
	return list
}

// role returns a Role with all rights that apps need, for an admin.
func (c *checker) role(rights []right) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: torchx\n  namespace: %s\nrules:\n", c.namespace)
	verbs := map[string][]string{}
	var order []string
	for _, r := range rights {
		if r.isClusterWide() {
			continue
		}
		name := r.of.Name
		if r.sub != "" {
			name += "/" + r.sub
		}
		of := fmt.Sprintf("- apiGroups: [%q]\n  resources: [%s]\n", r.of.Group, name)
		if verbs[of] == nil {
			order = append(order, of)
		}
		verbs[of] = append(verbs[of], r.verb)
	}
	for _, of := range order {
		fmt.Fprintf(&b, "%s  verbs: [%s]\n", of, strings.Join(verbs[of], ", "))
	}
	return b.String()
}

// isClusterWide reports whether the right is on objects without a namespace.
func (r right) isClusterWide() bool {
	return slices.Contains([]string{kube.Nodes.Name, kube.VolcanoQueues.Name}, r.of.Name)
}

// checkRights names the rights that the user lacks in the namespace.
func (c *checker) checkRights(ctx context.Context) backend.Check {
	all := c.rights()
	denied := make([]bool, len(all))
	ask, ctx := errgroup.WithContext(ctx)
	ask.SetLimit(reviewsAtOnce)
	for i, r := range all {
		ask.Go(func() (err error) {
			denied[i], err = c.denied(ctx, r)
			return err
		})
	}
	if err := ask.Wait(); err != nil {
		return backend.WarningCheck(rightsCheck, "see `kubectl auth can-i --list -n "+c.namespace+"`", "your rights could not be read: %v", err)
	}
	var must, may []string
	for i, r := range all {
		switch {
		case denied[i] && r.minor:
			may = append(may, r.String())
		case denied[i]:
			must = append(must, r.String())
		}
	}
	const fix = "ask an admin for this Role, or choose another namespace by -cfg namespace=NAME"
	var check backend.Check
	switch {
	case len(must) > 0:
		check = backend.FailedCheck(rightsCheck, fix, "in namespace %s you may not %s", c.namespace, joinRights(append(must, may...)))
	case len(may) > 0:
		check = backend.WarningCheck(rightsCheck, "ask an admin for this Role: with it torchx explains why an app waits, and exec, cp, port-forward and run --tty work", "in namespace %s you may not %s", c.namespace, joinRights(may))
	default:
		return backend.PassedCheck(rightsCheck, "you have all rights that apps with gang=%s need in namespace %s", c.form, c.namespace)
	}
	check.Manifest = c.role(all)
	return check
}

// denied asks the server whether the user lacks a right.
func (c *checker) denied(ctx context.Context, r right) (bool, error) {
	attributes := map[string]any{"verb": r.verb, "group": r.of.Group, "version": r.of.Version, "resource": r.of.Name, "subresource": r.sub}
	if !r.isClusterWide() {
		attributes["namespace"] = c.namespace
	}
	review := map[string]any{
		"apiVersion": accessReviews.Group + "/" + accessReviews.Version, "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": attributes},
	}
	var answer struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	err := c.Create(ctx, accessReviews, "", review, false, &answer)
	return !answer.Status.Allowed, err
}

// joinRights joins rights, grouped by resource: "create, get jobs.batch".
func joinRights(rights []string) string {
	var order []string
	verbs := map[string][]string{}
	for _, r := range rights {
		verb, what, _ := strings.Cut(r, " ")
		if len(verbs[what]) == 0 {
			order = append(order, what)
		}
		verbs[what] = append(verbs[what], verb)
	}
	for i, what := range order {
		order[i] = strings.Join(verbs[what], ", ") + " " + what
	}
	return strings.Join(order, "; ")
}
