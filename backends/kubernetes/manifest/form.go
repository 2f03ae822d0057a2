package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// Form is the kind of main object that runs an app's replicas.
type Form string

// The forms. FormAuto selects one that the cluster can run.
const (
	FormAuto    Form = "auto"
	FormVolcano Form = "volcano" // a Volcano Job, gang-scheduled: one task per replica, or per role if there are many replicas
	FormJobSet  Form = "jobset"  // a JobSet: one replicated job per role
	FormJob     Form = "job"     // one Indexed Job per role, and a headless service
)

// Forms lists the forms that a plan can have, the most capable first.
var Forms = []Form{FormVolcano, FormJobSet, FormJob}

// controllers names what each form needs on the cluster.
var controllers = map[Form]string{FormVolcano: "Volcano", FormJobSet: "JobSet", FormJob: "Job"}

// Controller returns the name of what a form needs on the cluster.
func (f Form) Controller() string { return controllers[f] }

// choose returns the form for gang=auto: the first installed one that supports the retry
// policies of all roles, else the first. If installed is nil, the cluster is not known yet,
// and the form is volcano, as in TorchX.
func choose(app *spec.App, o Options, installed []Form) Form {
	if o.gang != FormAuto {
		return o.gang
	}
	available := slices.DeleteFunc(slices.Clone(Forms), func(f Form) bool {
		isKnown := f == FormJob || installed == nil || slices.Contains(installed, f)
		return !isKnown || f == FormVolcano && o.kueueQueue != "" // Kueue does not manage Volcano jobs
	})
	if hasDependencies(app) {
		return FormJobSet // the only one that can start roles in an order
	}
	for _, f := range available {
		if installed == nil || len(unretried(app, f)) == 0 {
			return f
		}
	}
	return available[0]
}

// policies lists the retry policies that each form supports.
var policies = map[Form][]spec.RetryPolicy{
	FormVolcano: {spec.RetryApplication},
	FormJobSet:  {spec.RetryApplication, spec.RetryReplica},
	FormJob:     {spec.RetryReplica},
}

// retryPolicy returns the policy by which a form retries a role, "" if it cannot. Policies
// are equivalent if the app has only that role, or the role only one replica.
func retryPolicy(app *spec.App, role *spec.Role, f Form) spec.RetryPolicy {
	if role.MaxRetries == 0 {
		return ""
	}
	equivalent := []spec.RetryPolicy{role.RetryPolicy}
	switch isApp, isReplica := len(app.Roles) == 1, role.NumReplicas == 1; {
	case isApp && isReplica:
		equivalent = append(equivalent, spec.RetryPolicies...)
	case isApp && role.RetryPolicy != spec.RetryReplica:
		equivalent = append(equivalent, spec.RetryApplication)
	case isReplica && role.RetryPolicy != spec.RetryApplication:
		equivalent = append(equivalent, spec.RetryReplica)
	}
	for _, policy := range equivalent {
		if slices.Contains(policies[f], policy) {
			return policy
		}
	}
	return ""
}

// unretried returns the roles whose retry policy the form does not support.
func unretried(app *spec.App, f Form) (roles []*spec.Role) {
	for i := range app.Roles {
		if r := &app.Roles[i]; r.MaxRetries > 0 && retryPolicy(app, r, f) == "" {
			roles = append(roles, r)
		}
	}
	return roles
}

// appRetries returns how often the whole app may restart: the minimum over the roles that
// request it, as in TorchX.
func appRetries(app *spec.App, f Form) int {
	retries := 0
	for i := range app.Roles {
		r := &app.Roles[i]
		if retryPolicy(app, r, f) == spec.RetryApplication &&
			(retries == 0 || r.MaxRetries < retries) {
			retries = r.MaxRetries
		}
	}
	return retries
}

// requiredReplicas returns how many replicas of a role must succeed.
func requiredReplicas(r *spec.Role) int {
	if r.MinReplicas == nil {
		return r.NumReplicas
	}
	return min(*r.MinReplicas, r.NumReplicas)
}

// NeedsAll reports whether every replica of the app must succeed.
func NeedsAll(app *spec.App) bool {
	return !slices.ContainsFunc(app.Roles, func(r spec.Role) bool { return requiredReplicas(&r) < r.NumReplicas })
}

// formWarnings returns one line for each request of the app that the form cannot meet.
func formWarnings(app *spec.App, f Form, o Options) (lines []string) {
	if roles := unretried(app, f); len(roles) > 0 {
		var names []string
		for _, r := range roles {
			names = append(names, fmt.Sprintf("role %s (%s)", r.Name, r.RetryPolicy))
		}
		advice := "no other gang can retry them"
		if i := slices.IndexFunc(Forms, func(f Form) bool { return len(unretried(app, f)) == 0 }); i >= 0 {
			advice = "use -cfg gang=" + string(Forms[i])
		}
		lines = append(lines, fmt.Sprintf("gang=%s does not support these retry policies and ignores them: %s: %s", f, strings.Join(names, ", "), advice))
	}
	lines = append(lines, deadlineWarnings(app, f)...)
	lines = append(lines, parallelWarnings(app, f)...)
	if f == FormJob && (len(app.Roles) > 1 || app.Roles[0].NumReplicas > 1) {
		text := "gang=job does not start all replicas together: some may wait for resources while others run"
		if len(app.Roles) > 1 && o.failFast {
			text += ", and a failed role does not stop the others"
		}
		lines = append(lines, text)
	}
	if f == FormJobSet && len(app.Roles) > 1 && !o.failFast {
		lines = append(lines, "with gang=jobset, fail_fast=false keeps the replicas of the same role running, but a failed role stops the others")
	}
	return lines
}

// parallelWarnings names the roles whose replicas a Volcano Job starts together although they
// limit that.
func parallelWarnings(app *spec.App, f Form) (lines []string) {
	for i := range app.Roles {
		role := &app.Roles[i]
		if order, err := role.Order(); f == FormVolcano && err == nil && order.MaxParallel > 0 &&
			order.MaxParallel < role.NumReplicas {
			lines = append(lines, fmt.Sprintf("gang=volcano starts all replicas of role %s together and ignores its max_parallel: use -cfg gang=jobset or gang=job", role.Name))
		}
	}
	return lines
}

// appWarnings returns one line for each request of the app that no form can meet or
// that is dangerous.
func appWarnings(app *spec.App) (lines []string) {
	var ignored []string
	privileged := false
	for i := range app.Roles {
		for _, what := range ignoredFields(&app.Roles[i]) {
			if !slices.Contains(ignored, what) {
				ignored = append(ignored, what)
			}
		}
		for _, m := range app.Roles[i].Mounts {
			privileged = privileged || m.Type == spec.MountDevice
		}
	}
	if !hasDependencies(app) && slices.ContainsFunc(app.Roles, func(r spec.Role) bool { o, err := r.Order(); return err == nil && o.Ready != nil }) {
		ignored = append(ignored, "ready, for which no role waits")
	}
	if len(ignored) > 0 {
		lines = append(lines, "the kubernetes backend ignores: "+strings.Join(ignored, ", "))
	}
	if privileged {
		lines = append(lines, "a device mount makes its container privileged: if the cluster has a device plugin, use Resource(devices=...) instead")
	}
	return lines
}

// checkSidecars refuses an app with a sidecar, which would never end: no form stops one role
// after the others have succeeded.
func checkSidecars(app *spec.App) error {
	for i := range app.Roles {
		if order, err := app.Roles[i].Order(); err == nil && order.Sidecar {
			return fmt.Errorf("role %s is a sidecar, which the kubernetes backend cannot stop when the other roles have succeeded: "+
				"run it as a separate app, or use the backend local or docker", app.Roles[i].Name)
		}
	}
	return nil
}

// ignoredFields names the fields of a role that have no effect.
func ignoredFields(role *spec.Role) (names []string) {
	for _, k := range slices.Sorted(maps.Keys(role.Resource.Capabilities)) {
		if k != capabilityInstanceType && k != spec.CapabilityGPU {
			names = append(names, "capability "+k)
		}
	}
	if order, err := role.Order(); err == nil && order.Ready != nil && order.Ready.Timeout > 0 {
		names = append(names, "timeout of ready")
	}
	return names
}
