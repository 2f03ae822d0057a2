package app

import (
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/follow"
	"torchx/runtime/spec"
)

func TestFailedReplicasInOrder(t *testing.T) {
	t.Parallel()
	at := func(s int) *time.Time { u := time.Unix(int64(s), 0); return &u }
	failed := func(id, s int) spec.ReplicaStatus {
		return spec.ReplicaStatus{ID: id, State: spec.Failed, FinishedAt: at(s)}
	}
	unknown := spec.ReplicaStatus{ID: 3, State: spec.Failed}
	first := failed(2, 9) // as the backend saw it, whatever the clocks say
	first.Role = "b"
	s := &spec.Status{FirstFailure: &first, Roles: []spec.RoleStatus{
		{Role: "a", Replicas: []spec.ReplicaStatus{failed(0, 5), {ID: 1, State: spec.Cancelled, FinishedAt: at(1)}, failed(2, 3), unknown}},
		{Role: "b", Replicas: []spec.ReplicaStatus{failed(0, 4), {ID: 1, State: spec.Succeeded}, failed(2, 9)}},
	}}
	for _, c := range []struct {
		target follow.LogTarget
		want   string
	}{
		{follow.LogTarget{}, "b2 a2 b0 a0 a3"},
		{follow.LogTarget{Role: "a"}, "a2 a0 a3"},
		{follow.LogTarget{Role: "a", Ids: []int{0, 1}}, "a0"},
		{follow.LogTarget{Role: "c"}, ""},
	} {
		var got []string
		for _, r := range failedReplicas(s, c.target) {
			got = append(got, r.Role+string(rune('0'+r.ID)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %v, want %s", c.target, got, c.want)
		}
	}
}
