package component

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// golden is a dry run of TorchX. A case without an app failed.
type golden struct {
	Name     string
	Argv     []string
	ExitCode int `json:"exit_code"`
	AppDef   *spec.App
}

// TestGoldens builds the apps that TorchX built from the same arguments.
func TestGoldens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/golden/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no goldens", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".local_cwd.json"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var g golden
			if err := json.Unmarshal(data, &g); err != nil {
				t.Fatal(err)
			}
			g.check(t)
		})
	}
}

func (g golden) check(t *testing.T) {
	at := slices.IndexFunc(g.Argv, func(arg string) bool { return strings.HasPrefix(arg, "comps.py:") })
	ref := strings.Replace(g.Argv[at], ".py", ".star", 1)
	c, err := NewLoader(Config{Dir: "testdata"}).Find(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	result, err := c.Build(t.Context(), Inputs{Args: g.Argv[at+1:]})
	if g.AppDef == nil {
		var usage *UsageError
		if g.ExitCode != 2 || !errors.As(err, &usage) {
			t.Errorf("error %v, want a usage error (exit code %d)", err, g.ExitCode)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	g.correct()
	if got, want := generic(t, result.App), generic(t, g.AppDef); !reflect.DeepEqual(got, want) {
		t.Errorf("app\n%v\nwant\n%v", got, want)
	}
}

// correct removes what the runner adds, and corrects errors of TorchX.
func (g *golden) correct() {
	for i := range g.AppDef.Roles {
		role := &g.AppDef.Roles[i]
		role.Env = slices.DeleteFunc(role.Env, func(e spec.Entry[string]) bool {
			return e.Key == spec.JobIDVariable || e.Key == spec.SessionIDVariable
		})
	}
	args := g.AppDef.Roles[0].Args
	switch g.Name {
	case "custom_types_ok": // Optional[int] stays a string
		args[9] = "7"
	case "custom_types_dashdash": // --b 1 is false, silently
		args[2] = "True"
	}
}

func generic(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
