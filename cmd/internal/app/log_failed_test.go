package app

import (
	"strings"
	"testing"

	"torchx/cmd/internal/follow"
	"torchx/runtime/spec"
)

func TestFailedReplicasOfTarget(t *testing.T) {
	t.Parallel()
	failed := func(id int) spec.ReplicaStatus { return spec.ReplicaStatus{ID: id, State: spec.Failed} }
	s := &spec.Status{Roles: []spec.RoleStatus{
		{Role: "a", Replicas: []spec.ReplicaStatus{failed(0), {ID: 1, State: spec.Cancelled}, failed(2)}},
		{Role: "b", Replicas: []spec.ReplicaStatus{failed(0), {ID: 1, State: spec.Succeeded}}},
	}}
	for _, c := range []struct {
		target follow.LogTarget
		want   string
	}{
		{follow.LogTarget{}, "a0 a2 b0"},
		{follow.LogTarget{Role: "a"}, "a0 a2"},
		{follow.LogTarget{Role: "a", IDs: []int{0, 1}}, "a0"},
		{follow.LogTarget{Role: "c"}, ""},
	} {
		var got []string
		for _, r := range failedReplicas(s, c.target) {
			got = append(got, r.Role+string(rune('0'+r.ID)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: got %v, want %s", c.target, got, c.want)
		}
	}
}
