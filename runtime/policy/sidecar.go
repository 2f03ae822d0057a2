package policy

import (
	"fmt"
	"slices"
	"time"

	"torchx/runtime/spec"
)

// EndSidecars stops the sidecars once all other roles have ended. If those succeeded, the
// sidecars have succeeded, too.
func (p *Policy) EndSidecars(now time.Time) (acts []Action) {
	if len(p.Orders) == 0 || p.sidecarsEnded || p.isEnding() || !p.othersEnded() {
		return nil
	}
	p.sidecarsEnded = true
	p.restartGroups = nil // of sidecars
	_, code := p.conclusion()
	for _, r := range p.Replicas {
		if !p.isSidecar(r) {
			continue
		}
		acts = append(acts, r.stop()...)
		r.retired = r.State == spec.Running && code == 0
		if r.State == spec.Pending {
			p.cancelPending(r, now)
			r.Msg = "not started: all other roles have ended"
		}
	}
	return acts
}

func (p *Policy) isSidecar(r *Replica) bool { return p.Orders[r.Role].Sidecar }

// othersEnded reports whether the app has sidecars and no other role runs or will run.
func (p *Policy) othersEnded() bool {
	if !slices.ContainsFunc(p.Replicas, p.isSidecar) {
		return false
	}
	restarting := p.restarting()
	return !slices.ContainsFunc(p.Replicas, func(r *Replica) bool {
		return !p.isSidecar(r) && (!r.State.Terminal() || restarting[r])
	})
}

// endRetired records the exit of a sidecar that was no longer needed.
func (r *Replica) endRetired(code int, now time.Time) {
	r.end(spec.Succeeded, 0, "", now)
	r.Msg = "stopped when all other roles had succeeded"
	if code != 0 {
		r.Msg += fmt.Sprintf(" (exit code %d)", code)
	}
}

// leftRunning returns the roles that run while all others have succeeded, if others waited
// for each of them to be started or ready: such an app may never end.
func (p *Policy) leftRunning() (names []string) {
	served := map[string]bool{}
	for _, o := range p.Orders {
		for _, d := range o.DependsOn {
			served[d.Role] = served[d.Role] || d.Condition != spec.DependsSucceeded
		}
	}
	if len(served) == 0 || p.CannotSucceed || p.isEnding() {
		return nil
	}
	for i := range p.App.Roles {
		role := &p.App.Roles[i]
		all := p.byRole[role]
		running := count(all, func(r *Replica) bool { return r.State == spec.Running && !r.Stopping })
		ended := count(all, func(r *Replica) bool { return r.State == spec.Succeeded })
		switch {
		case p.Orders[role].Sidecar || running+ended < len(all) ||
			running > 0 && !served[role.Name]:
			return nil
		case running > 0:
			names = append(names, role.Name)
		}
	}
	if len(names) == len(p.App.Roles) {
		return nil
	}
	return names
}
