package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// Form is the kind of object that runs an app's replicas.
type Form string

// The forms. FormAuto takes one that the cluster has.
const (
	FormAuto    Form = "auto"
	FormVolcano Form = "volcano" // a Volcano Job: one task for each replica, of many for each role; all start or none
	FormJobSet  Form = "jobset"  // a JobSet: one replicated job for each role
	FormJob     Form = "job"     // one Indexed Job for each role and a headless service
)

// Forms lists the forms that a plan can have, the most capable first.
var Forms = []Form{FormVolcano, FormJobSet, FormJob}

// controllers names what each form needs on the cluster.
var controllers = map[Form]string{FormVolcano: "Volcano", FormJobSet: "JobSet", FormJob: "Job"}

// choose returns the form for gang=auto: the first installed one that retries as all
// roles ask, else the first. If installed is nil, the cluster is not known yet, and the
// form is volcano, as in TorchX.
func choose(app *spec.App, o Options, installed []Form) Form {
	if o.gang != FormAuto {
		return o.gang
	}
	available := slices.DeleteFunc(slices.Clone(Forms), func(f Form) bool {
		isKnown := f == FormJob || installed == nil || slices.Contains(installed, f)
		return !isKnown || f == FormVolcano && o.kueueQueue != "" // Kueue has no Volcano jobs
	})
	for _, f := range available {
		if installed == nil || len(unretried(app, f)) == 0 {
			return f
		}
	}
	return available[0]
}

// policies lists the retry policies that each form implements.
var policies = map[Form][]spec.RetryPolicy{
	FormVolcano: {spec.RetryApplication},
	FormJobSet:  {spec.RetryApplication, spec.RetryReplica},
	FormJob:     {spec.RetryReplica},
}

// retryPolicy returns the policy by which a form retries a role, "" if it does not.
// Where the role is the whole app, or the replica the whole role, policies are equal.
func retryPolicy(app *spec.App, role *spec.Role, f Form) spec.RetryPolicy {
	if role.MaxRetries == 0 {
		return ""
	}
	equal := []spec.RetryPolicy{role.RetryPolicy}
	switch isApp, isReplica := len(app.Roles) == 1, role.NumReplicas == 1; {
	case isApp && isReplica:
		equal = append(equal, spec.RetryPolicies...)
	case isApp && role.RetryPolicy != spec.RetryReplica:
		equal = append(equal, spec.RetryApplication)
	case isReplica && role.RetryPolicy != spec.RetryApplication:
		equal = append(equal, spec.RetryReplica)
	}
	for _, policy := range equal {
		if slices.Contains(policies[f], policy) {
			return policy
		}
	}
	return ""
}

// unretried returns the roles whose retry policy the form does not implement.
func unretried(app *spec.App, f Form) (roles []*spec.Role) {
	for i := range app.Roles {
		if r := &app.Roles[i]; r.MaxRetries > 0 && retryPolicy(app, r, f) == "" {
			roles = append(roles, r)
		}
	}
	return roles
}

// appRetries returns how often the whole app may start again: the minimum over the
// roles that ask for it, as in TorchX.
func appRetries(app *spec.App, f Form) int {
	least := 0
	for i := range app.Roles {
		r := &app.Roles[i]
		if retryPolicy(app, r, f) == spec.RetryApplication && (least == 0 || r.MaxRetries < least) {
			least = r.MaxRetries
		}
	}
	return least
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
		advice := "no gang form can"
		if i := slices.IndexFunc(Forms, func(f Form) bool { return len(unretried(app, f)) == 0 }); i >= 0 {
			advice = "-cfg gang=" + string(Forms[i]) + " can"
		}
		lines = append(lines, fmt.Sprintf("gang=%s cannot retry as these ask and will not: %s; %s", f, strings.Join(names, ", "), advice))
	}
	if f == FormJob && (len(app.Roles) > 1 || app.Roles[0].NumReplicas > 1) {
		text := "gang=job does not start all replicas or none: some may wait for room while others run"
		if len(app.Roles) > 1 && o.failFast {
			text += ", and a failed role does not stop the others"
		}
		lines = append(lines, text)
	}
	if f == FormJobSet && len(app.Roles) > 1 && !o.failFast {
		lines = append(lines, "fail_fast=false lets the replicas of the same role go on; a failed role stops the others with gang=jobset")
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
	if len(ignored) > 0 {
		lines = append(lines, "the kubernetes backend ignores: "+strings.Join(ignored, ", "))
	}
	if privileged {
		lines = append(lines, "a device mount makes its container privileged; where the cluster has a device plugin, ask for the device in Resource(devices=...) instead")
	}
	return lines
}

// checkSidecars refuses an app that would never end: no form stops one role when the
// others have succeeded.
func checkSidecars(app *spec.App) error {
	for i := range app.Roles {
		if order, err := app.Roles[i].Order(); err == nil && order.Sidecar {
			return fmt.Errorf("role %s is a sidecar, which the kubernetes backend cannot stop when the other roles have succeeded: "+
				"run it as an app of its own, or on local or docker", app.Roles[i].Name)
		}
	}
	return nil
}

// ignoredFields names the fields of a role that have no effect.
func ignoredFields(role *spec.Role) (names []string) {
	for _, k := range slices.Sorted(maps.Keys(role.Resource.Capabilities)) {
		if k != capabilityInstanceType {
			names = append(names, "capability "+k)
		}
	}
	if order, err := role.Order(); err == nil {
		if len(order.DependsOn) > 0 {
			names = append(names, "depends_on")
		}
		if order.Ready != nil {
			names = append(names, "ready")
		}
	}
	return names
}
