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
	minor bool   // apps run without it, but torchx shows or can do less
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
	may := func(verb string, of kube.Resource, sub string) {
		list = append(list, right{verb: verb, of: of, sub: sub, minor: true})
	}
	for _, verb := range []string{"get", "list", "watch", "delete"} {
		may(verb, kube.Pods, "")
	}
	may("get", kube.Pods, "log")
	add(mainResources[c.form], "create", "get", "list", "watch", "patch", "delete")
	switch c.form {
	case manifest.FormVolcano:
		add(kube.VolcanoCommands, "create")
		may("create", kube.Services, "") // of large apps
		may("list", kube.PodGroups, "")
		may("get", kube.VolcanoQueues, "")
		may("list", kube.Nodes, "")
	case manifest.FormJob:
		add(kube.Services, "create", "patch")
		may("delete", kube.Services, "") // of interrupted submissions; the cluster deletes others
	}
	if workloads, ok := kube.KueueResource(c.groups, "workloads"); ok && c.kueueQueue != "" {
		queues, _ := kube.KueueResource(c.groups, "localqueues")
		may("get", queues, "")
		may("list", workloads, "")
	}
	may("list", kube.Events, "")
	may("list", kube.ResourceQuotas, "")
	for _, sub := range []string{"exec", "attach", "portforward"} {
		may("create", kube.Pods, sub)
	}
	if c.groups.Has(kube.PodMetrics) {
		may("list", kube.PodMetrics, "")
	}
	return list
}

// roles returns a Role with all rights that apps need, for an admin, and a ClusterRole with those
// on objects without a namespace.
func (c *checker) roles(all []right) string {
	const head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: torchx\n%srules:\n%s"
	ofCluster, ofNamespace := []right{}, []right{}
	for _, r := range all {
		if r.isClusterWide() {
			ofCluster = append(ofCluster, r)
		} else {
			ofNamespace = append(ofNamespace, r)
		}
	}
	text := fmt.Sprintf(head, "Role", "  namespace: "+c.namespace+"\n", rules(ofNamespace))
	if len(ofCluster) > 0 {
		text += "---\n" + fmt.Sprintf(head, "ClusterRole", "", rules(ofCluster))
	}
	return text
}

// rules returns the rules of a role, one for each resource.
func rules(rights []right) string {
	var b strings.Builder
	verbs := map[string][]string{}
	var order []string
	for _, r := range rights {
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
	fix := "ask an admin for these rights, or choose another namespace by -cfg namespace=NAME"
	if c.form != manifest.FormJob {
		fix += ", or plain Jobs by -cfg gang=job"
	}
	var check backend.Check
	switch {
	case len(must) > 0:
		check = backend.FailedCheck(rightsCheck, fix, "in namespace %s you may not %s", c.namespace,
			joinRights(append(must, may...)))
	case len(may) > 0:
		check = backend.WarningCheck(rightsCheck, "ask an admin for these rights: apps run without them, but torchx shows less and can do less", "in namespace %s you may not %s", c.namespace, joinRights(may))
	default:
		return backend.PassedCheck(rightsCheck,
			"you have all rights that apps with gang=%s need in namespace %s", c.form, c.namespace)
	}
	check.Manifest = c.roles(all)
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
