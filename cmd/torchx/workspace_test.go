package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
)

// TestWorkspaceFlag: the workspace of the first role in a plan.
func TestWorkspaceFlag(t *testing.T) {
	t.Parallel()
	dir := caseDir(t)
	must(t, os.WriteFile(filepath.Join(dir, ".torchxconfig"), []byte("[cli:run]\nworkspace = conf\n"), 0o600))
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, `{"projects":{"conf":""}}`},
		{[]string{"--workspace", "flag"}, `{"projects":{"flag":""}}`},
		{[]string{"--workspace={a: '', b: c}"}, `{"projects":{"a":"","b":"c"}}`},
		{[]string{"--workspace="}, `null`},
	} {
		r := torchx(t, dir, nil, "", append(append([]string{"run", "--dryrun", "--json"}, test.args...), "utils.echo")...)
		var plan struct {
			App struct {
				Roles []struct{ Workspace json.RawMessage }
			}
		}
		must(t, json.Unmarshal([]byte(r.out), &plan))
		var got strings.Builder
		must(t, json.NewEncoder(&got).Encode(plan.App.Roles[0].Workspace))
		if strings.TrimSpace(got.String()) != test.want {
			t.Errorf("%q: %s, want %s", test.args, got.String(), test.want)
		}
	}
	if r := torchx(t, dir, nil, "", "run", "--dryrun", "--workspace", "{a: {b: c}}", "utils.echo"); r.code != program.ExitUsage || !strings.Contains(r.err, "--workspace") {
		t.Errorf("a map in a map: %d %s", r.code, r.err)
	}
}
