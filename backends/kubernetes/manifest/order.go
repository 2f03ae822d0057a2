package manifest

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"torchx/backends/kubernetes/kube"
	"torchx/runtime/spec"
)

// States of a replicated job for which others wait (jobset.x-k8s.io/v1alpha2, DependencyStatus).
const (
	jobReady    = "Ready"
	jobComplete = "Complete"
)

// maxDependencies is how many jobs a replicated job can wait for (JobSet 0.10, maxItems of the
// field; JobSet 0.8 refuses more than one at submit).
const maxDependencies = 5

// hasDependencies reports whether a role of the app waits for others.
func hasDependencies(app *spec.App) bool {
	return slices.ContainsFunc(app.Roles, func(r spec.Role) bool {
		o, err := r.Order()
		return err == nil && len(o.DependsOn) > 0
	})
}

// checkOrder refuses what the form cannot do: it would start the roles together.
func (b *builder) checkOrder() error {
	for i := range b.in.App.Roles {
		role := &b.in.App.Roles[i]
		order, err := role.Order()
		if err != nil || len(order.DependsOn) == 0 {
			continue
		}
		if b.form != FormJobSet {
			return fmt.Errorf("role %s waits for %s, which gang=%s cannot do: use -cfg gang=jobset, or the backend local or docker", role.Name, order.DependsOn[0], b.form)
		}
		jobs := 0
		for _, d := range order.DependsOn {
			at := b.roleIndex(d.Role)
			jobs += len(b.roleUnits(at))
			if err := checkDependency(role, d, &b.in.App.Roles[at]); err != nil {
				return err
			}
		}
		if jobs > maxDependencies {
			return fmt.Errorf("role %s waits for %d jobs, but JobSet can wait for %d only: let the roles wait for each other in a chain, or use the backend local or docker", role.Name, jobs, maxDependencies)
		}
	}
	return nil
}

// checkDependency refuses a dependency on a probe that no pod has.
func checkDependency(role *spec.Role, d spec.Dependency, on *spec.Role) error {
	if order, err := on.Order(); err == nil && d.Condition == spec.DependsReady &&
		order.Ready != nil && !order.Ready.ByPort() {
		return fmt.Errorf("role %s waits for %s by a %s, which the kubernetes backend cannot do: use a probe of a port", role.Name, d, order.Ready)
	}
	return nil
}

func (b *builder) roleIndex(name string) int {
	return slices.IndexFunc(b.in.App.Roles, func(r spec.Role) bool { return r.Name == name })
}

// ordered returns the units so that each follows those for which it waits, as JobSet requires.
// Otherwise it keeps their order.
func (b *builder) ordered(units []unit) []unit {
	placed := make([]unit, 0, len(units))
	done := map[int]bool{} // roles
	for len(placed) < len(units) {
		before := len(placed)
		for i := range b.in.App.Roles {
			order, _ := b.in.App.Roles[i].Order() // errors are those of validation
			waits := slices.ContainsFunc(order.DependsOn, func(d spec.Dependency) bool { return !done[b.roleIndex(d.Role)] })
			if done[i] || waits {
				continue
			}
			done[i] = true
			for _, u := range units {
				if u.role == i {
					placed = append(placed, u)
				}
			}
			break // the earliest role that can start comes first
		}
		if len(placed) == before {
			return units // a cycle, which validation refuses
		}
	}
	return placed
}

// dependencies returns the jobs for which a unit waits.
func (b *builder) dependencies(u unit, units []unit) (list []kube.JobDependency) {
	order, _ := b.in.App.Roles[u.role].Order() // errors are those of validation
	for _, d := range order.DependsOn {
		status := jobReady
		if d.Condition == spec.DependsSucceeded {
			status = jobComplete
		}
		for _, on := range units {
			if on.role == b.roleIndex(d.Role) {
				list = append(list, kube.JobDependency{Name: on.name, Status: status})
			}
		}
	}
	return list
}

// readiness returns the probe of a role for which another one waits, nil if none does. Without
// a probe, a pod is ready when it runs.
func (b *builder) readiness(role *spec.Role) *corev1.Probe {
	awaited := slices.ContainsFunc(b.in.App.Roles, func(r spec.Role) bool {
		o, err := r.Order()
		return err == nil && slices.Contains(o.DependsOn,
			spec.Dependency{Role: role.Name, Condition: spec.DependsReady})
	})
	order, err := role.Order()
	if err != nil || !awaited || order.Ready == nil || !order.Ready.ByPort() {
		return nil
	}
	return probeOf(order.Ready, role.PortMap)
}

// probeOf returns a probe of a port in the terms of Kubernetes, whose times are whole seconds.
func probeOf(p *spec.Probe, ports spec.Map[int]) *corev1.Probe {
	number := p.Number
	if p.Port != "" {
		number, _ = ports.Get(p.Port) // validated
	}
	port := intstr.FromInt32(int32(number))
	made := &corev1.Probe{
		InitialDelaySeconds: int32(*seconds(p.InitialDelay)), PeriodSeconds: max(1,
			int32(*seconds(p.Period))),
		TimeoutSeconds: checkSeconds, FailureThreshold: 1,
	}
	if p.Path != "" {
		made.HTTPGet = &corev1.HTTPGetAction{Path: p.Path, Port: port}
	} else {
		made.TCPSocket = &corev1.TCPSocketAction{Port: port}
	}
	return made
}

// checkSeconds bounds one check of a probe, as on this machine.
const checkSeconds = 3
