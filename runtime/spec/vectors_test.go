package spec

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

// vector is one row of a golden table: arguments and TorchX's result or error.
type vector struct {
	In    json.RawMessage `json:"in"`
	Out   json.RawMessage `json:"out"`
	Error string          `json:"error"`
}

func readVectors(t *testing.T, name string) []vector {
	t.Helper()
	var table struct{ Rows []vector }
	readJSON(t, "testdata/"+name+".json", &table)
	if len(table.Rows) == 0 {
		t.Fatalf("%s: got no rows", name)
	}
	return table.Rows
}

func readJSON(t *testing.T, path string, to any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unmarshal(t, data, to)
}

func unmarshal(t *testing.T, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
}

func TestSubstituteVectors(t *testing.T) {
	t.Parallel()
	m := Macros{ImgRoot: "IMG", AppID: "APP", ReplicaID: "7", Rank0Env: "R0"}
	for _, v := range readVectors(t, "macro_substitute") {
		var in []string
		var want string
		unmarshal(t, v.In, &in)
		unmarshal(t, v.Out, &want)
		if got := m.Substitute(in[0]); got != want {
			t.Errorf("Substitute(%q): got %q, want %q", in[0], got, want)
		}
	}
}

func TestRandomIDVectors(t *testing.T) {
	t.Parallel()
	for _, row := range readVectors(t, "random_id") {
		var in []*uint64
		var want string
		unmarshal(t, row.In, &in)
		unmarshal(t, row.Out, &want)
		maxLen := -1
		if in[1] != nil {
			maxLen = int(*in[1])
		}
		if got := RandomID(*in[0], maxLen); got != want {
			t.Errorf("RandomID(%d, %d): got %q, want %q", *in[0], maxLen, got, want)
		}
	}
}

func TestNormalizeVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t, "normalize_str") {
		var in []string
		var want string
		unmarshal(t, v.In, &in)
		unmarshal(t, v.Out, &want)
		if got := Normalize(in[0]); got != want {
			t.Errorf("Normalize(%q): got %q, want %q", in[0], got, want)
		}
	}
}

func TestJoinPathVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t, "join_path") {
		var in []*string
		var want string
		unmarshal(t, v.In, &in)
		unmarshal(t, v.Out, &want)
		paths := make([]string, len(in)) // null counts as empty
		for i, p := range in {
			if p != nil {
				paths[i] = *p
			}
		}
		if got := JoinPath(paths...); got != want {
			t.Errorf("JoinPath(%q): got %q, want %q", paths, got, want)
		}
	}
}

func TestParseHandleVectors(t *testing.T) {
	t.Parallel()
	for _, v := range readVectors(t, "parse_app_handle") {
		var in []string
		unmarshal(t, v.In, &in)
		got, err := ParseHandle(in[0])
		if v.Error != "" {
			if err == nil || err.Error() != v.Error {
				t.Errorf("ParseHandle(%q): got error %v, want %s", in[0], err, v.Error)
			}
			continue
		}
		var want map[string]string
		unmarshal(t, v.Out, &want)
		parts := map[string]string{"scheduler_backend": got.Backend, "session_name": got.Session, "app_id": got.AppID}
		if err != nil || !reflect.DeepEqual(parts, want) {
			t.Errorf("ParseHandle(%q): got %v, %v, want %v", in[0], parts, err, want)
		}
		if got.String() != in[0] {
			t.Errorf("ParseHandle(%q).String(): got %q", in[0], got.String())
		}
	}
}

func TestStateVectors(t *testing.T) {
	t.Parallel()
	var want struct {
		AppStates map[string]int `json:"app_states"`
		Terminal  []string
		Started   []string
	}
	readJSON(t, "testdata/state_maps.json", &want)
	states, terminal, started := map[string]int{}, map[string]bool{}, map[string]bool{}
	for i, name := range stateNames {
		s, err := ParseState(name)
		if err != nil || int(s) != i || s.String() != name {
			t.Errorf("ParseState(%q): got %d (%v), %v", name, s, s, err)
		}
		states[name], terminal[name], started[name] = int(s), s.Terminal(), s.Started()
	}
	if !reflect.DeepEqual(states, want.AppStates) {
		t.Errorf("got states %v, want %v", states, want.AppStates)
	}
	checkSet(t, "terminal", terminal, want.Terminal)
	checkSet(t, "started", started, want.Started)
}

func checkSet(t *testing.T, what string, got map[string]bool, want []string) {
	t.Helper()
	for _, name := range want {
		if !got[name] {
			t.Errorf("%s: got false, want it %s", name, what)
		}
		delete(got, name)
	}
	for name, in := range got {
		if in {
			t.Errorf("%s: got true, want it not %s", name, what)
		}
	}
}
