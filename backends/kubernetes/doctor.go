package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

// checkTime bounds the checks of a cluster.
const checkTime = 10 * time.Second

// Names of checks.
const (
	kubeconfigCheck = "kubeconfig"
	optionsCheck    = "options"
	serverCheck     = "server"
	gangCheck       = "gang"
	namespaceCheck  = "namespace"
	queueCheck      = "queue"
	rightsCheck     = "rights"
	admissionCheck  = "admission"
	skewCheck       = "version"
)

// oldestServer is the first minor version (1.x) in which Indexed Jobs retry each index
// separately (backoffLimitPerIndex is beta, so enabled, since 1.29).
const oldestServer = 29

// Doctor checks which cluster is used, whether it answers, which gang schedulers it has, and
// whether apps can use the default namespace and queue.
func (b *Backend) Doctor(ctx context.Context) []backend.Check {
	client, cfg, err := b.cluster(ctx, "")
	if err != nil {
		return []backend.Check{backend.FailedCheck(kubeconfigCheck, "", "%v", err)}
	}
	checks := []backend.Check{backend.PassedCheck(kubeconfigCheck, "%s, server %s", client.Access, client.Server)}
	o, err := manifest.ReadOptions(cfg)
	if err != nil {
		return append(checks, backend.FailedCheck(optionsCheck, "see `torchx config explain -b kubernetes`", "%v", err))
	}
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	server, err := client.Version(ctx)
	if err != nil {
		return append(checks, backend.FailedCheck(serverCheck, "", "%v", err))
	}
	groups, err := client.Groups(ctx)
	if err != nil {
		return append(checks, backend.FailedCheck(serverCheck, "", "%v", err))
	}
	if _, given := cfg["namespace"].(string); !given && client.Namespace != "" {
		o.Namespace = client.Namespace
	}
	c := &checker{Client: client, groups: groups, namespace: o.Namespace, queue: o.Queue, form: o.Form(installed(groups))}
	c.kueueQueue, c.kueuePriority = o.Kueue()
	checks = append(checks, backend.PassedCheck(serverCheck, "Kubernetes %s, %s", server.GitVersion, server.Platform), skew(server.Major, server.Minor), c.gang())
	return append(checks, backend.RunDiagnostics(ctx, checkTime, []backend.Diagnostic{
		{Name: namespaceCheck, Run: c.checkNamespace},
		{Name: queueCheck, Run: c.checkQueue},
		{Name: admissionCheck, Run: c.checkAdmission, Minor: true},
		{Name: rightsCheck, Run: c.checkRights},
	})...)
}

// checker checks one cluster.
type checker struct {
	*kube.Client
	groups                    kube.Groups
	namespace, queue          string
	form                      manifest.Form // that apps will have
	kueueQueue, kueuePriority string        // "" if Kueue does not queue apps
}

// skew compares the server's version with the client library's.
func skew(major, minor string) backend.Check {
	server, err := strconv.Atoi(strings.TrimRight(minor, "+")) // cloud providers append a plus: "34+"
	client := clientMinor()
	switch {
	case err != nil || major != "1":
		return backend.WarningCheck(skewCheck, fmt.Sprintf("use a cluster of version 1.%d or later", oldestServer), "the server reports an unknown version: %q", major+"."+minor)
	case server < oldestServer:
		return backend.WarningCheck(skewCheck, "upgrade the cluster, or use gang=volcano",
			"the server is 1.%d: before 1.%d, gang=jobset and gang=job cannot retry single replicas", server, oldestServer)
	case client == 0:
		return backend.PassedCheck(skewCheck, "the server is 1.%d, torchx needs at least 1.%d",
			server, oldestServer)
	}
	return backend.PassedCheck(skewCheck, "the server is 1.%d, torchx is built for 1.%d and needs at least 1.%d", server, client, oldestServer)
}

// clientMinor returns N of the Kubernetes 1.N that client-go v0.N.x is made for, 0 if
// unknown.
func clientMinor() int {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return 0
	}
	for _, m := range info.Deps {
		if parts := strings.Split(m.Version, "."); m.Path == "k8s.io/client-go" && len(parts) == 3 {
			n, _ := strconv.Atoi(parts[1]) // 0 if it is not a number
			return n
		}
	}
	return 0
}

// gang checks which gang schedulers the cluster has. Plain Jobs always work.
func (c *checker) gang() backend.Check {
	if !c.groups.Has(mainResources[c.form]) {
		return backend.FailedCheck(gangCheck, "install it, or use -cfg gang=auto",
			"the cluster has no %s, which gang=%s needs", c.form.Controller(), c.form)
	}
	var found []string
	if c.groups.Has(kube.VolcanoJobs) {
		found = append(found, "Volcano (gang=volcano)")
	}
	if c.groups.Has(kube.JobSets) {
		found = append(found, "JobSet (gang=jobset)")
	}
	if len(c.groups[kube.KueueGroup]) > 0 {
		found = append(found, "Kueue (kueue_queue)")
	}
	switch {
	case len(found) == 0:
		return backend.WarningCheck(gangCheck, "install Volcano to start all replicas of an app together or none; gang=auto then uses it",
			"neither Volcano nor JobSet: apps run as Jobs (gang=job), whose replicas start one by one")
	case !c.groups.Has(kube.VolcanoJobs):
		return backend.WarningCheck(gangCheck, "install Volcano to start all replicas of an app together or none", "%s, and plain Jobs", strings.Join(found, ", "))
	}
	return backend.PassedCheck(gangCheck, "%s, and plain Jobs (gang=job)",
		strings.Join(found, ", "))
}

// checkNamespace checks that the namespace exists. For users who may not read namespaces it
// refers to the rights check.
func (c *checker) checkNamespace(ctx context.Context) backend.Check {
	var found kube.Object
	err := c.Get(ctx, kube.Namespaces, "", c.namespace, &found)
	switch {
	case errors.Is(err, kube.ErrForbidden):
		return backend.PassedCheck(namespaceCheck, "%s, which you may not read; see the check %q",
			c.namespace, rightsCheck)
	case err != nil:
		return backend.FailedCheck(namespaceCheck, "", "%v", err)
	case found.DeletionTimestamp != nil:
		return backend.FailedCheck(namespaceCheck, "choose another by -cfg namespace=NAME",
			"%s is being deleted", c.namespace)
	}
	return backend.PassedCheck(namespaceCheck,
		"%s, unless -cfg namespace=NAME selects another", c.namespace)
}

// checkQueue checks that Kueue's or Volcano's queue accepts jobs.
func (c *checker) checkQueue(ctx context.Context) backend.Check {
	if c.kueueQueue != "" {
		return c.checkKueueQueue(ctx)
	}
	if c.form != manifest.FormVolcano {
		return backend.PassedCheck(queueCheck, "not used without Volcano")
	}
	var found kube.VolcanoQueue
	err := c.Get(ctx, kube.VolcanoQueues, "", c.queue, &found)
	switch {
	case errors.Is(err, kube.ErrForbidden):
		return backend.PassedCheck(queueCheck, "%s, which you may not read", c.queue)
	case errors.Is(err, backend.ErrNotFound):
		return backend.FailedCheck(queueCheck, "choose one of `kubectl get queues` by -cfg queue=NAME", "Volcano has no queue %s", c.queue)
	case err != nil:
		return backend.FailedCheck(queueCheck, "", "%v", err)
	case found.IsClosed():
		return backend.FailedCheck(queueCheck, "choose another of `kubectl get queues` by -cfg queue=NAME", "queue %s is %s and accepts no jobs", c.queue, found.Status.State)
	}
	return backend.PassedCheck(queueCheck, "%s, unless -cfg queue=NAME selects another", c.queue)
}

// checkKueueQueue checks that Kueue's queue and priority class exist.
func (c *checker) checkKueueQueue(ctx context.Context) backend.Check {
	warning, err := checkKueue(ctx, c.Client, c.groups, c.namespace, c.kueueQueue, c.kueuePriority)
	switch {
	case err != nil:
		return backend.FailedCheck(queueCheck, "", "%v", err)
	case warning != "":
		return backend.WarningCheck(queueCheck,
			"choose another by -cfg kueue_queue=NAME, or ask its admin", "%s", warning)
	}
	return backend.PassedCheck(queueCheck, "Kueue queue %s", c.kueueQueue)
}

const (
	// admissionRate is Volcano's default for --kube-api-qps (volcano, cmd/webhook-manager). Its
	// webhook needs a request for each pod.
	admissionRate = 50
	// goodRate starts 1,000 pods in the time in which the rest of the cluster can.
	goodRate = 1000
	// rateFlag is the flag of Volcano's webhook.
	rateFlag = "--kube-api-qps="
)

// admission is the Deployment of Volcano's webhook in its release manifest.
var admission = struct{ namespace, name string }{"volcano-system", "volcano-admission"}

// checkAdmission checks how fast Volcano's webhook admits pods.
func (c *checker) checkAdmission(ctx context.Context) backend.Check {
	if c.form != manifest.FormVolcano {
		return backend.PassedCheck(admissionCheck, "not used without Volcano")
	}
	const advice = "start the webhook with --kube-api-qps=2000 --kube-api-burst=2000 for apps of 1,000 replicas"
	var found appsv1.Deployment
	err := c.Get(ctx, kube.Deployments, admission.namespace, admission.name, &found)
	switch {
	case errors.Is(err, kube.ErrForbidden), errors.Is(err, backend.ErrNotFound):
		return backend.PassedCheck(admissionCheck, "Volcano's webhook cannot be read; by default it admits %d pods a second: %s", admissionRate, advice)
	case err != nil:
		return backend.WarningCheck(admissionCheck, "", "%v", err)
	}
	rate := float64(admissionRate)
	for i := range found.Spec.Template.Spec.Containers {
		for _, arg := range append(found.Spec.Template.Spec.Containers[i].Args, found.Spec.Template.Spec.Containers[i].Command...) {
			if text, ok := strings.CutPrefix(arg, rateFlag); ok {
				if n, err := strconv.ParseFloat(text, 64); err == nil {
					rate = n
				}
			}
		}
	}
	if rate < goodRate {
		return backend.WarningCheck(admissionCheck, "ask an admin to "+advice,
			"Volcano's webhook admits about %v pods a second: large apps start slowly", rate)
	}
	return backend.PassedCheck(admissionCheck,
		"Volcano's webhook admits up to %v pods a second", rate)
}
