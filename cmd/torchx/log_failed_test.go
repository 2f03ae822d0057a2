package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
		target logTarget
		want   string
	}{
		{logTarget{}, "b2 a2 b0 a0 a3"},
		{logTarget{role: "a"}, "a2 a0 a3"},
		{logTarget{role: "a", ids: []int{0, 1}}, "a0"},
		{logTarget{role: "c"}, ""},
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

// A log that cannot be read does not hide the others.
func TestLogFailedGoesOn(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	r := torchx(t, dir, nil, "", "run", "-cfg", "fail_fast=false", "comps.star:two", "--first", "echo one; exit 1", "--second", "echo two; exit 2")
	handle := strings.TrimSpace(r.out)
	found, err := filepath.Glob(filepath.Join(dir, "home", "apps", "*", "replicas", "a", "0", "0"))
	must(t, err)
	if len(found) != 1 {
		t.Fatal(found)
	}
	// A folder where the stream should be: reading it is an error.
	must(t, os.Remove(filepath.Join(found[0], "stdout.log")))
	must(t, os.Mkdir(filepath.Join(found[0], "stdout.log"), 0o700))
	r = torchx(t, dir, nil, "", "log", "--failed", handle)
	if strings.Count(r.out, "two\n") != 2 || r.code != exitError || strings.Count(r.err, "error: ") != 1 {
		t.Errorf("%+v", r)
	}
}

func TestTableCut(t *testing.T) {
	t.Parallel()
	tab := table{header: []string{"TIME", "WHAT"}}
	tab.add(cell{"12:00", ""}, cell{strings.Repeat("é", 40), ""})
	tab.add(cell{"12:01", ""}, cell{"short", ""})
	tab.cut(20)
	var b bytes.Buffer
	must(t, tab.write(&b, style{}))
	if want := "TIME   WHAT\n12:00  " + strings.Repeat("é", 12) + "…\n12:01  short\n"; b.String() != want {
		t.Errorf("%q", b.String())
	}
}
