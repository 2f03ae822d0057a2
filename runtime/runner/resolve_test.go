package runner

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func TestResolveHandles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for text, want := range map[string]history.AppKey{
		"local://torchx/a":      {Backend: "local", ID: "a"},
		"local:///a":            {Backend: "local", ID: "a"},
		"local_cwd://x/a":       {Backend: "local", ID: "a"},
		"local_dir://torchx/a":  {Backend: "local", ID: "a"},
		"local_docker://s/ns:a": {Backend: "docker", ID: "ns:a"},
		"local://foo":           {},
		"local_cwd://x/y/a":     {},
		"docker://torchx/x/a":   {},
		"local://torchx/a/":     {},
		"local://torchx//a":     {},
		"local://torchx/../a":   {},
		"local://torchx/a\x1b":  {},
		"local://torchx/a\n":    {},
		"://a/b":                {},
		"nope://s/a":            {},
	} {
		got, err := w.Resolve(t.Context(), text)
		if got != want || (err != nil) != (want.ID == "") {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	_, err := w.Resolve(t.Context(), "local_cwd://foo")
	if want := "local_cwd://foo is not of the form: <scheduler_backend>://<session_name>/<app_id>"; err == nil || err.Error() != want {
		t.Errorf("malformed handle: got %v, want %s", err, want)
	}
	_, err = w.Resolve(t.Context(), "nope://s/a")
	if !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), "local, docker") {
		t.Errorf("unknown backend: got %v, want not found with the known ones", err)
	}
}

// TestHandleOfForeignApp: a handle is not a prefix if its backend has an app with that ID.
func TestHandleOfForeignApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := w.run(t, "docker", "own")
	foreign := history.AppKey{Backend: "docker", ID: own.ID[:4]}
	if got, err := w.Resolve(t.Context(), foreign.Handle()); got != own || err != nil {
		t.Errorf("a prefix: got %v, %v, want %v", got, err, own)
	}
	w.other.set(foreign.ID, &spec.Status{State: spec.Running})
	if got, err := w.Resolve(t.Context(), foreign.Handle()); got != foreign || err != nil {
		t.Errorf("got %v, %v, want %v", got, err, foreign)
	}
}

func TestResolvePrefix(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.Resolve(t.Context(), "-"); !errors.Is(err, backend.ErrNotFound) || !strings.Contains(err.Error(), "torchx list") {
		t.Errorf("-: got %v, want not found", err)
	}
	alpha := w.run(t, "local", "alpha")
	beta := w.run(t, "docker", "beta")
	beta2 := w.run(t, "local", "beta")
	w.local.set("unrecorded-x", &spec.Status{State: spec.Running})
	for text, want := range map[string]history.AppKey{
		"a": alpha, alpha.ID: alpha, "-": beta2, beta.ID: beta, "unrec": {Backend: "local", ID: "unrecorded-x"},
	} {
		if got, err := w.Resolve(t.Context(), text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	_, err := w.Resolve(t.Context(), "b")
	if err == nil || !strings.Contains(err.Error(), beta.Handle()) || !strings.Contains(err.Error(), beta2.Handle()) {
		t.Errorf("ambiguous prefix: got %v, want both handles", err)
	}
	for _, text := range []string{"foo", "", "%", "_lpha"} {
		_, err := w.Resolve(t.Context(), text)
		var lookup *LookupError
		if !errors.Is(err, backend.ErrNotFound) || !errors.As(err, &lookup) {
			t.Errorf("%q: got %v, want a LookupError", text, err)
		}
	}
	for range 5 {
		w.run(t, "local", "beta")
	}
	if _, err := w.Resolve(t.Context(), "b"); err == nil || strings.Count(err.Error(), "://") != maxCandidates || !strings.HasSuffix(err.Error(), "...") {
		t.Errorf("many matches: got %v, want %d handles", err, maxCandidates)
	}
}

// TestResolveExactWins: an ID that is also a prefix of another ID means its own app.
func TestResolveExactWins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.local.set("x", &spec.Status{})
	w.local.set("xy", &spec.Status{})
	if got, err := w.Resolve(t.Context(), "x"); err != nil || got.ID != "x" {
		t.Errorf("got %v, %v, want x", got, err)
	}
}

func TestLogVectors(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/log_identifier_valid.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rows []struct {
			In  []string
			Out bool
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || len(file.Rows) == 0 {
		t.Fatal(err)
	}
	for _, r := range file.Rows {
		want := r.Out
		if r.In[0] == "app" {
			want = true // an app ID, or a prefix, is enough here
		}
		_, _, _, err := parseLog(r.In[0])
		if (err == nil) != want {
			t.Errorf("%q: got %v, want valid: %v", r.In[0], err, want)
		}
		if err != nil && err.Error() != "`"+r.In[0]+"` is not of the form SCHEDULER://[SESSION_NAME]/APP_ID/[ROLE_NAME/[REPLICA_IDS,...]]" {
			t.Errorf("%q: got %v, want TorchX's message", r.In[0], err)
		}
	}
}

func TestResolveLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ref := w.run(t, "local", "alpha")
	for _, tt := range []struct {
		text, role string
		ids        []int
		ok         bool
	}{
		{"-", "", nil, true},
		{"-/echo", "echo", nil, true},
		{"-/echo/1", "echo", []int{1}, true},
		{"alp/echo/0,1,0,", "echo", []int{0, 1}, true},
		{ref.Handle() + "/echo/12", "echo", []int{12}, true},
		{"local_cwd:///" + ref.ID + "/echo", "echo", nil, true},
		{"-/", "", nil, false},
		{"-/echo/", "", nil, false},
		{"-/echo/a", "", nil, false},
		{"-/echo/99999999999999999999", "", nil, false},
		{"nope/echo", "echo", nil, false},
		{"", "", nil, false},
	} {
		got, role, ids, err := w.ResolveLog(t.Context(), tt.text)
		if (err == nil) != tt.ok {
			t.Errorf("%q: got %v, want ok: %v", tt.text, err, tt.ok)
			continue
		}
		if tt.ok && (got != ref || role != tt.role || !reflect.DeepEqual(ids, tt.ids)) {
			t.Errorf("%q: got %v %q %v, want %v %q %v", tt.text, got, role, ids, ref, tt.role, tt.ids)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	for _, s := range []string{"local://s/app/role/0,1,", "-/r/0", "a://b", "x/y/z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		app, role, ids, err := parseLog(text)
		if err != nil {
			return
		}
		if app == "" || strings.Contains(role, "/") || len(ids) > 0 && role == "" || !strings.HasPrefix(text, app) {
			t.Fatalf("%q: got %q %q %v, want a prefix of the text and a role for its replicas", text, app, role, ids)
		}
	})
}
