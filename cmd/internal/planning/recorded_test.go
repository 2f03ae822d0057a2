package planning

import (
	"encoding/json"
	"testing"

	"torchx/runtime/spec"
)

// TestChangedRecords: records get variables and a sweep, and keep the rest.
func TestChangedRecords(t *testing.T) {
	t.Parallel()
	raw := json.RawMessage(`{"env":{"A":"1","B":"2"},"image":"i"}`)
	more, err := RecordVariables(raw, spec.Map[string]{{Key: "B", Value: "3"}, {Key: "C", Value: "4"}})
	must(t, err)
	if want := `{"env":{"A":"1","B":"3","C":"4"},"image":"i"}`; string(more) != want {
		t.Errorf("got %s, want %s", more, want)
	}
	more, err = RecordSweep(raw, map[string]int{"random": 3})
	must(t, err)
	if want := `{"env":{"A":"1","B":"2"},"image":"i","sweep":{"random":3}}`; string(more) != want {
		t.Errorf("got %s, want %s", more, want)
	}
	if _, err := RecordSweep(json.RawMessage("["), nil); err == nil {
		t.Error("a damaged record: got no error")
	}
}
