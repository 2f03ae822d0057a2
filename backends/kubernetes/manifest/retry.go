package manifest

import (
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// policies says which retry policies each form has.
var policies = map[Form][]spec.RetryPolicy{
	FormVolcano: {spec.RetryApplication},
	FormJobSet:  {spec.RetryApplication, spec.RetryReplica},
	FormJob:     {spec.RetryReplica},
}

// retryAs is the policy by which a form retries a role, "" if it does not. Where
// the role is the whole app, or the replica is the whole role, policies are the same.
func retryAs(app *spec.App, role *spec.Role, f Form) spec.RetryPolicy {
	if role.MaxRetries == 0 {
		return ""
	}
	same := []spec.RetryPolicy{role.RetryPolicy}
	if len(app.Roles) == 1 && role.NumReplicas == 1 {
		same = append(same, spec.RetryPolicies...)
	} else if len(app.Roles) == 1 && role.RetryPolicy != spec.RetryReplica {
		same = append(same, spec.RetryApplication)
	} else if role.NumReplicas == 1 && role.RetryPolicy != spec.RetryApplication {
		same = append(same, spec.RetryReplica)
	}
	for _, policy := range same {
		if slices.Contains(policies[f], policy) {
			return policy
		}
	}
	return ""
}

// unretried are the roles that want to be retried in a way that the form does not have.
func unretried(app *spec.App, f Form) (roles []*spec.Role) {
	for i := range app.Roles {
		if r := &app.Roles[i]; r.MaxRetries > 0 && retryAs(app, r, f) == "" {
			roles = append(roles, r)
		}
	}
	return roles
}

// retryWarning names the roles that are not retried and a form that would.
func retryWarning(app *spec.App, f Form) []string {
	roles := unretried(app, f)
	if len(roles) == 0 {
		return nil
	}
	var names []string
	for _, r := range roles {
		names = append(names, fmt.Sprintf("role %s (%s)", r.Name, r.RetryPolicy))
	}
	advice := "no gang form can"
	for _, other := range Forms {
		if len(unretried(app, other)) == 0 {
			advice = "-cfg gang=" + string(other) + " can"
			break
		}
	}
	return []string{fmt.Sprintf("gang=%s cannot retry as these ask and will not: %s; %s", f, strings.Join(names, ", "), advice)}
}

// restarts is how often the whole app may be started again: the least that a role
// allows which asks for it, as in TorchX.
func restarts(app *spec.App, f Form) int {
	least := 0
	for i := range app.Roles {
		r := &app.Roles[i]
		if retryAs(app, r, f) == spec.RetryApplication && (least == 0 || r.MaxRetries < least) {
			least = r.MaxRetries
		}
	}
	return least
}

// required is how many replicas of a role must succeed.
func Required(r *spec.Role) int {
	if r.MinReplicas == nil || *r.MinReplicas > r.NumReplicas {
		return r.NumReplicas
	}
	return *r.MinReplicas
}
