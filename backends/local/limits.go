package local

import (
	"runtime"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/cgroup"
	"torchx/runtime/spec"
)

// Values of the limits option.
const (
	limitsNone   = "none"
	limitsAuto   = "auto"   // the best that works
	limitsCgroup = "cgroup" // or an error
	limitsRlimit = "rlimit"
)

// rlimits is set if this system enforces a memory limit of a process: macOS accepts one
// but ignores it.
const rlimits = runtime.GOOS == "linux"

// limitPlan is how the resources of an app's roles are limited.
type limitPlan struct {
	groups  bool          // each replica has a control group below parent
	parent  cgroup.Parent // limits memory and CPU if it has their controllers
	rlimit  bool          // memory is limited per process
	summary string        // one line for the user; "" if no limits were requested
	err     error         // why the requested limits are not possible
}

// decideLimits returns how this machine can limit an app, without changing anything. The
// plan reports the result, and the agent, which runs in the same control group, applies it.
func decideLimits(o options, app *spec.App) (l limitPlan) {
	memory, cpu := requestedLimits(app)
	var names []string
	if memory {
		names = append(names, "memory")
	}
	if cpu {
		names = append(names, "cpu")
	}
	if o.limits == limitsNone {
		return l
	}
	var reason error
	if o.limits != limitsRlimit && (len(names) > 0 || o.limits == limitsCgroup) {
		l.parent, reason = openCgroup(o.cgroupParent, names)
		l.groups = reason == nil
	}
	if o.limits == limitsCgroup && reason != nil {
		l.err = backend.Errorf(backend.ErrInvalidOption,
			"limits=cgroup: %w: try `systemd-run --user --scope -p Delegate=yes torchx run ...`, or limits=auto", reason)
		return l
	}
	l.rlimit = memory && o.limits != limitsCgroup && !l.parent.Has("memory")
	l.summary = l.describe(memory, cpu, reason)
	if l.rlimit && !rlimits {
		l.rlimit, l.summary = false, "limits: this system has neither cgroups nor memory limits: memMB and cpu are not enforced"
	}
	return l
}

// requestedLimits reports which resources any role sets.
func requestedLimits(app *spec.App) (memory, cpu bool) {
	for i := range app.Roles {
		memory = memory || app.Roles[i].Resource.MemMB > 0
		cpu = cpu || app.Roles[i].Resource.CPU > 0
	}
	return memory, cpu
}

func openCgroup(dir string, controllers []string) (cgroup.Parent, error) {
	if dir == "" {
		own, err := cgroup.Self()
		if err != nil {
			return cgroup.Parent{}, err
		}
		dir = own
	}
	return cgroup.Open(dir, controllers...)
}

// describe returns one line about what is limited, how, and what is not.
func (l limitPlan) describe(memory, cpu bool, reason error) string {
	if !memory && !cpu {
		return "limits: no role sets memMB or cpu, nothing is limited"
	}
	var parts []string
	var byGroup []string
	if memory && l.parent.Has("memory") {
		byGroup = append(byGroup, "memMB")
	}
	if cpu && l.parent.Has("cpu") {
		byGroup = append(byGroup, "cpu")
	}
	if len(byGroup) > 0 {
		parts = append(parts, strings.Join(byGroup, " and ")+" of each replica by cgroup "+l.parent.Dir)
	}
	switch {
	case l.rlimit:
		parts = append(parts, "memMB by rlimit, for each process of a replica, not for all of them together")
	case memory && !l.parent.Has("memory"):
		parts = append(parts, "memMB is not limited, "+l.parent.Dir+" has no memory controller")
	}
	if cpu && !l.parent.Has("cpu") {
		parts = append(parts, "cpu is not limited")
	}
	text := "limits: " + strings.Join(parts, "; ")
	if reason != nil {
		text += " (" + reason.Error() + ")"
	}
	return text
}

// limitsOf returns the limits of one replica of a role.
func (l limitPlan) limitsOf(r *spec.Role) (group cgroup.Limits, data int64) {
	memory := int64(max(r.Resource.MemMB, 0)) << 20
	if l.parent.Has("memory") {
		group.Memory = memory
	}
	if l.parent.Has("cpu") {
		group.CPU = max(r.Resource.CPU, 0)
	}
	if l.rlimit {
		data = memory
	}
	return group, data
}

func checkLimits(o options) error {
	switch o.limits {
	case limitsNone, limitsAuto, limitsCgroup, limitsRlimit:
		return nil
	}
	return backend.Errorf(backend.ErrInvalidOption,
		"limits=%s: must be none, auto, cgroup or rlimit", o.limits)
}

// limitWarnings returns one line about which limits are enforced.
func limitWarnings(o options, app *spec.App) ([]string, error) {
	l := decideLimits(o, app)
	if l.summary == "" {
		return nil, l.err
	}
	return []string{l.summary}, l.err
}
