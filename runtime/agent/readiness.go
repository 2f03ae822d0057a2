package agent

import (
	"context"
	"net"
	"strconv"

	"torchx/runtime/spec"
)

// lineProbe is what a launcher is to call with each line of output, nil if the
// replica has no probe for its log.
func (a *agent) lineProbe(r *replica, attempt int) func(line []byte) bool {
	probe := a.policy.orders[r.role].Ready
	if probe == nil || probe.Log == nil {
		return nil
	}
	return func(line []byte) bool {
		found := probe.Log.Match(line)
		if found {
			go a.post(func() { a.probePassed(r, attempt) }) // whoever reads output must not wait for the loop
		}
		return found
	}
}

// startProbe has an attempt that has just begun looked at until it is ready.
func (a *agent) startProbe(r *replica, attempt int) {
	probe := a.policy.orders[r.role].Ready
	if probe == nil {
		return
	}
	if probe.Timeout > 0 {
		a.after(probe.Timeout, func() { a.probeTimedOut(r, attempt) })
	}
	if probe.Log == nil {
		a.prober.start(r.key, probe, a.addresses(r.key, a.portOf(r.role, probe)), func() {
			a.post(func() { a.probePassed(r, attempt) })
		})
	}
}

// portOf is the port of a probe: that which the agent picked for a name.
func (a *agent) portOf(role *spec.Role, probe *spec.Probe) int {
	if probe.Port == "" {
		return probe.Number
	}
	fallback, _ := role.PortMap.Get(probe.Port)
	if a.manifest.Containers {
		return fallback // nobody else has ports where it listens
	}
	return a.ports.port(portKey{role.Name, probe.Port}, fallback)
}

// addresses says where to look for a port of a replica.
func (a *agent) addresses(r spec.Replica, port int) func(context.Context) []Address {
	if reacher, ok := a.launcher.(AddressFinder); ok {
		return func(ctx context.Context) []Address { return reacher.Addresses(ctx, r, port) }
	}
	var all []Address
	for _, host := range []string{"127.0.0.1", "::1"} {
		all = append(all, Address{HostPort: net.JoinHostPort(host, strconv.Itoa(port))})
	}
	return func(context.Context) []Address { return all }
}

func (a *agent) probePassed(r *replica, attempt int) {
	a.perform(a.policy.probePassed(r, attempt, a.now()))
	a.dirty = true
}

func (a *agent) probeTimedOut(r *replica, attempt int) {
	a.perform(a.policy.probeTimedOut(r, attempt))
	a.dirty = true
}
