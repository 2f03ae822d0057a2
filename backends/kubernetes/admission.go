package kubernetes

import (
	"context"
	"errors"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
)

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
		return backend.WarningCheck(admissionCheck, "ask an admin to "+advice, "Volcano's webhook admits about %v pods a second: large apps start slowly", rate)
	}
	return backend.PassedCheck(admissionCheck, "Volcano's webhook admits up to %v pods a second", rate)
}
