package manifest

import (
	"maps"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// warn says, each in one line, what the app asks for and no form can give or what
// is dangerous, and what this form cannot give.
func warn(app *spec.App, f Form, o Options) (lines, ofForm []string) {
	var ignore []string
	seen := map[string]bool{}
	privileged := false
	for i := range app.Roles {
		role := &app.Roles[i]
		for _, what := range ignored(role) {
			if !seen[what] {
				seen[what] = true
				ignore = append(ignore, what)
			}
		}
		for _, m := range role.Mounts {
			privileged = privileged || m.Type == spec.MountDevice
		}
	}
	if len(ignore) > 0 {
		lines = append(lines, "the kubernetes backend ignores: "+strings.Join(ignore, ", "))
	}
	if privileged {
		lines = append(lines, "a device mount makes its container privileged; where the cluster has a device plugin, ask for the device in Resource(devices=...) instead")
	}
	return lines, formWarnings(app, f, o)
}

// formWarnings say what a form cannot give.
func formWarnings(app *spec.App, f Form, o Options) (lines []string) {
	lines = retryWarning(app, f)
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

func ignored(role *spec.Role) (what []string) {
	for _, k := range slices.Sorted(maps.Keys(role.Resource.Capabilities)) {
		if k != capabilityInstanceType {
			what = append(what, "capability "+k)
		}
	}
	if order, err := role.Order(); err == nil {
		if len(order.DependsOn) > 0 {
			what = append(what, "depends_on")
		}
		if order.Ready != nil {
			what = append(what, "ready")
		}
	}
	return what
}
