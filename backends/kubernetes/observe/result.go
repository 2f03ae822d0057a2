package observe

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"torchx/runtime/spec"
)

// maxPast bounds the attempts that a status remembers, as for local apps.
const maxPast = 1000

// status puts together what is known.
func (b *board) status() *spec.Status {
	s := &spec.Status{SubmittedAt: b.created, NumRestarts: b.restarts, Roles: []spec.RoleStatus{}}
	for i := range b.roles {
		s.Roles = append(s.Roles, spec.RoleStatus{Role: b.roles[i].name, Replicas: []spec.ReplicaStatus{}})
	}
	role := 0
	for _, r := range b.replicas {
		for b.roles[role].name != r.key.Role {
			role++
		}
		s.Roles[role].Replicas = append(s.Roles[role].Replicas, r.final)
		s.NumRestarts += b.ownRestarts(r)
		for i := range r.attempts {
			s.StartedAt = earlier(s.StartedAt, r.attempts[i].status.StartedAt)
		}
		s.Past = append(s.Past, r.past()...)
	}
	slices.SortStableFunc(s.Past, func(x, y spec.ReplicaStatus) int { return compareTimes(x.FinishedAt, y.FinishedAt) })
	s.Past = s.Past[max(0, len(s.Past)-maxPast):]
	s.StructuredErrorMsg = b.firstErrorFile()
	if over, cancelled := b.over(); over {
		b.conclude(s, cancelled)
	} else {
		b.progress(s)
	}
	return s
}

// ownRestarts is how often a replica was started again while the others went on: by
// its controller, or in its pod where an overlay has it so (restartPolicy OnFailure).
func (b *board) ownRestarts(r *replica) (n int) {
	a := r.last()
	if a == nil {
		return 0
	}
	if r.unit.retries > 0 {
		n = failures(a.pod)
	}
	if c := decisive(a.pod); c != nil {
		n += int(c.RestartCount)
	}
	return n
}

// past are the attempts before the last. A pod that was replaced without a new
// attempt, as Volcano does when one is deleted, is none.
func (r *replica) past() (all []spec.ReplicaStatus) {
	for i := range max(0, len(r.attempts)-1) {
		a := r.attempts[i]
		if a.status.Attempt == r.attempts[i+1].status.Attempt {
			continue
		}
		if a.cut() || !a.status.State.Terminal() {
			a.status.State = spec.Cancelled // for a restart
		}
		all = append(all, a.status)
	}
	return all
}

// conclude says how the app ended.
func (b *board) conclude(s *spec.Status, cancelled bool) {
	s.FinishedAt = b.endedAt
	for _, r := range b.replicas {
		s.FinishedAt = later(s.FinishedAt, r.final.FinishedAt)
	}
	if cancelled {
		s.FinishedAt = later(s.FinishedAt, b.cancelAt)
	}
	first, lost := b.firstFailure(), b.lost()
	code := 0
	switch {
	case cancelled:
		s.State, s.Msg, code = spec.Cancelled, "cancelled", spec.ExitCancelled
	case lost || b.phase != succeeded && !b.enough():
		s.State, code = spec.Failed, codeUnknown
		s.Msg = b.failure(first)
		if first != nil {
			s.FirstFailure = &first.final
			if c := first.final.ExitCode; c != nil && *c != 0 {
				code = *c
			}
		}
	default:
		s.State = spec.Succeeded
	}
	s.ExitCode = &code
}

// lost tells whether more replicas of a role failed than it can do without.
func (b *board) lost() bool {
	return b.each(func(r *role, failed, _ int) bool { return failed > r.count-r.required })
}

// enough tells whether of each role as many succeeded as must, whatever the
// controller makes of the others.
func (b *board) enough() bool {
	return !b.each(func(r *role, _, succeeded int) bool { return succeeded < r.required })
}

// each tells whether one of the roles is so, by how many of its replicas failed and succeeded.
func (b *board) each(is func(r *role, failed, succeeded int) bool) bool {
	for i := range b.roles {
		bad, good := 0, 0
		for _, r := range b.replicas {
			switch {
			case r.key.Role != b.roles[i].name:
			case r.final.State == spec.Failed:
				bad++
			case r.final.State == spec.Succeeded:
				good++
			}
		}
		if is(&b.roles[i], bad, good) {
			return true
		}
	}
	return false
}

// firstFailure is the replica that failed first, nil if none did. The cluster's
// times are whole seconds: of those that failed together, one that ended by itself
// comes before one that a signal ended.
func (b *board) firstFailure() (first *replica) {
	for _, r := range b.replicas {
		if r.final.State != spec.Failed {
			continue
		}
		if first == nil || cmp.Or(compareTimes(r.final.FinishedAt, first.final.FinishedAt), len(r.final.Signal)-len(first.final.Signal)) < 0 {
			first = r
		}
	}
	return first
}

func compareTimes(a, b *time.Time) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return a.Compare(*b)
}

// failure says in the words of local apps what failed first.
func (b *board) failure(first *replica) string {
	if first == nil {
		if b.reason != "" && len(b.seen.Pods)+len(b.seen.Gone) == 0 {
			return b.reason + "; its pods, which would say how, are gone"
		}
		return firstText(b.reason, "the cluster says that it failed, and has nothing left that says how")
	}
	f := &first.final
	name := fmt.Sprintf("replica %s/%d", f.Role, f.ID)
	switch {
	case f.Msg != "" && f.StartedAt == nil && f.ExitCode != nil:
		return name + " could not start: " + f.Msg
	case f.Msg != "":
		return name + " failed first: " + f.Msg
	case f.Signal != "":
		return name + " failed first with signal " + f.Signal
	case f.ExitCode != nil:
		return fmt.Sprintf("%s failed first with exit code %d", name, *f.ExitCode)
	}
	return name + " failed first"
}

// firstErrorFile is that of the replica which ended first with one.
func (b *board) firstErrorFile() []byte {
	var first *spec.ReplicaStatus
	for _, r := range b.replicas {
		f := &r.final
		if f.StructuredErrorMsg != nil && (first == nil || compareTimes(f.FinishedAt, first.FinishedAt) < 0) {
			first = f
		}
	}
	if first == nil {
		return nil
	}
	return first.StructuredErrorMsg
}

// progress says how an app stands that is not over.
func (b *board) progress(s *spec.Status) {
	s.State = spec.Pending
	waits := 0
	for _, r := range b.replicas {
		switch {
		case r.final.State == spec.Pending:
			waits++
		case r.final.State == spec.Running, r.final.State.Terminal():
			s.State = spec.Running
		}
	}
	if b.phase == ending || b.phase == active && waits == 0 || b.cancelled && b.alive() {
		s.State = spec.Running
	}
	if first := b.firstFailure(); first != nil && !b.retries && b.lost() && failures(first.last().pod) >= first.unit.retries {
		s.FirstFailure, s.Msg = &first.final, b.failure(first)
		return
	}
	switch {
	case b.cancelled:
		s.Msg = "is being cancelled"
	case b.deleting:
		s.Msg = "is being deleted"
	case b.incomplete != "":
		s.Msg = b.incomplete
	case waits > 0:
		s.Msg = b.why()
	}
	if s.Msg == "" {
		s.Msg = b.trouble()
	}
	if s.Msg == "" {
		s.Msg = b.stopping()
	}
}

// stopping says which pods are being stopped, which may take their grace period, and why.
func (b *board) stopping() string {
	var first *replica
	n := 0
	for _, r := range b.replicas {
		if a := r.last(); a.alive() && a.pod.DeletionTimestamp != nil {
			if n++; first == nil {
				first = r
			}
		}
	}
	var text string
	switch n {
	case 0:
		return b.failing
	case 1:
		text = fmt.Sprintf("replica %s/%d is being stopped", first.key.Role, first.key.ID)
	default:
		text = fmt.Sprintf("%d of %d replicas are being stopped", n, len(b.replicas))
	}
	if b.failing != "" {
		text += ": " + b.failing
	}
	return text
}

// trouble is what is wrong with a replica that does not know it yet.
func (b *board) trouble() string {
	for _, r := range b.replicas {
		a := r.last()
		if !a.alive() {
			continue
		}
		if text := fate(a.pod); text != "" {
			return fmt.Sprintf("replica %s/%d: %s", r.key.Role, r.key.ID, text)
		}
		if c := decisive(a.pod); c != nil && c.State.Waiting != nil && c.RestartCount > 0 {
			return fmt.Sprintf("replica %s/%d waits to be started again: %s", r.key.Role, r.key.ID, firstText(c.State.Waiting.Message, c.State.Waiting.Reason))
		}
	}
	return ""
}
