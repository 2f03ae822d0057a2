package agent

import (
	"fmt"
	"slices"
	"time"

	"torchx/runtime/spec"
)

// endSidecars stops the sidecars once all other roles have ended. If those succeeded, the
// sidecars have succeeded, too.
func (p *policy) endSidecars(now time.Time) (acts []action) {
	if p.sidecarsEnded || p.isEnding() || !p.othersEnded() {
		return nil
	}
	p.sidecarsEnded = true
	p.restartGroups = nil // of sidecars
	_, code := p.conclusion()
	for _, r := range p.replicas {
		if !p.isSidecar(r) {
			continue
		}
		acts = append(acts, r.stop()...)
		r.retired = r.state == spec.Running && code == 0
		if r.state == spec.Pending {
			p.cancelPending(r, now)
			r.msg = "not started: all other roles have ended"
		}
	}
	return acts
}

func (p *policy) isSidecar(r *replica) bool { return p.orders[r.role].Sidecar }

// othersEnded reports whether the app has sidecars and no other role runs or will run.
func (p *policy) othersEnded() bool {
	if !slices.ContainsFunc(p.replicas, p.isSidecar) {
		return false
	}
	restarting := p.restarting()
	return !slices.ContainsFunc(p.replicas, func(r *replica) bool {
		return !p.isSidecar(r) && (!r.state.Terminal() || restarting[r])
	})
}

// endRetired records the exit of a sidecar that was no longer needed.
func (r *replica) endRetired(code int, now time.Time) {
	r.end(spec.Succeeded, 0, "", now)
	r.msg = "stopped when all other roles had succeeded"
	if code != 0 {
		r.msg += fmt.Sprintf(" (exit code %d)", code)
	}
}

// leftRunning returns the roles that run while all others have succeeded, if others waited
// for each of them to be started or ready: such an app may never end.
func (p *policy) leftRunning() (names []string) {
	served := map[string]bool{}
	for _, o := range p.orders {
		for _, d := range o.DependsOn {
			served[d.Role] = served[d.Role] || d.Condition != spec.DependsSucceeded
		}
	}
	if len(served) == 0 || p.cannotSucceed || p.isEnding() {
		return nil
	}
	for i := range p.app.Roles {
		role := &p.app.Roles[i]
		all := p.byRole[role]
		running := count(all, func(r *replica) bool { return r.state == spec.Running && !r.stopping })
		ended := count(all, func(r *replica) bool { return r.state == spec.Succeeded })
		switch {
		case p.orders[role].Sidecar || running+ended < len(all) || running > 0 && !served[role.Name]:
			return nil
		case running > 0:
			names = append(names, role.Name)
		}
	}
	if len(names) == len(p.app.Roles) {
		return nil
	}
	return names
}
