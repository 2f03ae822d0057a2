package status

import (
	"fmt"
	"slices"

	"torchx/runtime/spec"
)

const (
	maxUnfolded = 12 // replicas that are all shown, in their order
	maxAlike    = 2  // equal replicas that are shown one by one
	maxRows     = 20 // beyond it, replicas of one role and state, or of one state, share a row
)

// statesByUrgency are all states, those that need attention first.
var statesByUrgency = []spec.State{
	spec.Failed, spec.Unknown, spec.Cancelled, spec.Unsubmitted, spec.Submitted, spec.Pending, spec.Running, spec.Succeeded,
}

// replicaGroup is one row of the table: a replica, or several that are alike.
type replicaGroup []*spec.ReplicaStatus

// groupReplicas returns the rows of the table. Few replicas are all shown, in their order. Of
// many, those that differ come first: the first failure, other failures, then the rarest.
func groupReplicas(s *spec.Status) []replicaGroup {
	var all replicaGroup
	for i := range s.Roles {
		for j := range s.Roles[i].Replicas {
			r := s.Roles[i].Replicas[j]
			r.Role = s.Roles[i].Role
			all = append(all, &r)
		}
	}
	if len(all) <= maxUnfolded {
		return all.each()
	}
	isFirst := func(r *spec.ReplicaStatus) bool {
		return s.FirstFailure != nil && r.Role == s.FirstFailure.Role && r.ID == s.FirstFailure.ID
	}
	groups := all.by(func(r *spec.ReplicaStatus) string {
		return fmt.Sprint(r.Role, r.State, r.Attempt, exitText(r), r.Msg, isFirst(r))
	})
	rank := func(g replicaGroup) int {
		switch {
		case isFirst(g[0]):
			return -2
		case g[0].State == spec.Failed:
			return -1
		}
		return len(g)
	}
	slices.SortStableFunc(groups, func(a, b replicaGroup) int { return rank(a) - rank(b) })
	var rows []replicaGroup
	for _, g := range groups {
		if len(g) <= maxAlike {
			rows = append(rows, g.each()...)
		} else {
			rows = append(rows, g)
		}
	}
	if len(rows) <= maxRows {
		return rows
	}
	rest := slices.Concat(rows[maxRows/2:]...)
	folded := rest.by(func(r *spec.ReplicaStatus) string { return fmt.Sprint(r.Role, r.State) })
	if len(folded) > maxRows { // many roles
		folded = rest.by(func(r *spec.ReplicaStatus) string { return r.State.String() })
	}
	return append(rows[:maxRows/2], folded...)
}

// each returns a group for each replica.
func (g replicaGroup) each() []replicaGroup {
	var rows []replicaGroup
	for i := range g {
		rows = append(rows, g[i:i+1])
	}
	return rows
}

// by groups replicas by a key; groups are in the order of their first replicas.
func (g replicaGroup) by(key func(*spec.ReplicaStatus) string) []replicaGroup {
	var groups []replicaGroup
	index := map[string]int{}
	for _, r := range g {
		k := key(r)
		i, known := index[k]
		if !known {
			i = len(groups)
			index[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}
