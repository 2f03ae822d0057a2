package spec

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// TestStatusJSON: files of a status keep all of it, and null stands for an empty text.
func TestStatusJSON(t *testing.T) {
	t.Parallel()
	at, code := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC), 3
	want := Status{
		Handle: "h", State: Failed, Msg: "m", ExitCode: &code, FinishedAt: &at,
		StructuredErrorMsg: json.RawMessage(`{"message":"x"}`),
		Roles:              []RoleStatus{{"r", []ReplicaStatus{{ID: 1, Role: "r", State: Failed, ExitCode: &code, Attempt: 2, Hostname: "x", StartedAt: &at, PID: 7}}}},
	}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Status
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	var nulls Status
	if err := json.Unmarshal([]byte(`{"msg":null,"roles":[{"role":"r","replicas":[{"hostname":null}]}]}`), &nulls); err != nil || nulls.Msg != "" || nulls.Roles[0].Replicas[0].Hostname != "" {
		t.Errorf("got %+v, %v, want empty texts", nulls, err)
	}
}
