package spec

import (
	"encoding/json"
	"testing"
	"time"
)

// TestStatusJSON: unknown values are null, and the fields that scripts rely on come first.
func TestStatusJSON(t *testing.T) {
	t.Parallel()
	at, code := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), 3
	for want, v := range map[string]any{
		`{"handle":"h","state":"PENDING","num_restarts":0,"msg":null,"structured_error_msg":null,"ui_url":null,"roles":[],"exit_code":null,"submitted_at":null,"started_at":null,"finished_at":null}`: Status{Handle: "h", State: Pending, Roles: []RoleStatus{}},

		`{"id":1,"role":"r","state":"PENDING","exit_code":null,"attempt":0,"hostname":null,"started_at":null,"finished_at":null}`: ReplicaStatus{ID: 1, Role: "r", State: Pending},

		`{"id":0,"role":"r","state":"FAILED","exit_code":3,"attempt":2,"hostname":"x","started_at":"2026-01-02T03:04:05.000006Z","finished_at":null,"pid":7}`: ReplicaStatus{
			Role: "r", State: Failed, ExitCode: &code, Attempt: 2, Hostname: "x", StartedAt: &at, PID: 7,
		},
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	}
	var back ReplicaStatus
	if err := json.Unmarshal([]byte(`{"role":"r","hostname":null}`), &back); err != nil || back.Hostname != "" || back.Role != "r" {
		t.Errorf("got %+v, %v, want an empty host name", back, err)
	}
}
