package kubernetes

import (
	"context"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/backend"
)

// accessReviews ask the server whether the asker may do something.
var accessReviews = kube.Resource{Group: "authorization.k8s.io", Version: "v1", Name: "selfsubjectaccessreviews"}

// reviewsAtOnce bounds the questions that are on their way.
const reviewsAtOnce = 8

// right is what an account may have to be allowed.
type right struct {
	verb  string
	of    kube.Resource
	sub   string // subresource
	minor bool   // apps run without it, but less is told of them
}

// rights are what apps need with what is installed.
func (c *clinic) rights() []right {
	list := []right{
		{verb: "get", of: kube.Pods},
		{verb: "list", of: kube.Pods},
		{verb: "watch", of: kube.Pods},
		{verb: "get", of: kube.Pods, sub: "log"},
		{verb: "create", of: kube.Services},
		{verb: "delete", of: kube.Services},
		{verb: "list", of: kube.Events, minor: true},
		{verb: "list", of: kube.Nodes, minor: true},
	}
	for _, main := range []kube.Resource{kube.Jobs, kube.JobSets, kube.VolcanoJobs} {
		if !c.groups.Has(main) {
			continue
		}
		for _, verb := range []string{"create", "get", "list", "watch", "patch", "delete"} {
			list = append(list, right{verb: verb, of: main})
		}
	}
	if c.groups.Has(kube.VolcanoJobs) {
		list = append(list, right{verb: "create", of: kube.VolcanoCommands},
			right{verb: "list", of: kube.PodGroups, minor: true}, right{verb: "get", of: kube.VolcanoQueues, minor: true})
	}
	return list
}

// checkRights names what the user may not do in the namespace.
func (c *clinic) checkRights(ctx context.Context) backend.Check {
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
		return backend.WarningCheck(rightsCheck, "see `kubectl auth can-i --list -n "+c.namespace+"`", "what you may do is not known: %v", err)
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
	const fix = "ask for a role that may, or choose another namespace by -cfg namespace=NAME"
	switch {
	case len(must) > 0:
		return backend.FailedCheck(rightsCheck, fix, "in namespace %s you may not %s", c.namespace, sentence(append(must, may...)))
	case len(may) > 0:
		return backend.WarningCheck(rightsCheck, "ask for a role that may: it is how torchx learns why an app waits", "in namespace %s you may not %s", c.namespace, sentence(may))
	}
	return backend.PassedCheck(rightsCheck, "you may do all that apps need in namespace %s", c.namespace)
}

// denied asks the server about one right.
func (c *clinic) denied(ctx context.Context, r right) (bool, error) {
	attributes := map[string]any{"verb": r.verb, "group": r.of.Group, "version": r.of.Version, "resource": r.of.Name, "subresource": r.sub}
	if !slices.Contains([]string{kube.Nodes.Name, kube.VolcanoQueues.Name}, r.of.Name) { // they are in no namespace
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

// sentence joins rights, those on the same objects first: "create, get jobs.batch".
func sentence(rights []string) string {
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
