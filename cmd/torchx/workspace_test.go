package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseWorkspace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"dir":                          `{"dir":""}`,
		"/a/b c":                       `{"/a/b c":""}`,
		"file:///a":                    `{"file:///a":""}`,
		"{a: '', b: sub/dir, c: null}": `{"a":"","b":"sub/dir","c":""}`,
		"z: one\na:\n":                 `{"z":"one","a":""}`,
		"[x":                           `{"[x":""}`,
	} {
		w, err := parseWorkspace(text)
		must(t, err)
		got, err := json.Marshal(w.Projects)
		must(t, err)
		if string(got) != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	if _, err := parseWorkspace("{a: [b]}"); err == nil {
		t.Error("a list is fine as a place")
	}
}

func TestDefaultWorkspace(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	must(t, os.Mkdir(filepath.Join(home, ".git"), 0o700))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(home, link))
	project, plain := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(project, ".torchxconfig"), nil, 0o600))
	for _, test := range []struct{ cwd, want, why string }{
		{project, project, "which has .torchxconfig"},
		{plain, "", "is no project"},
		{home, "", "never one"},
		{link, "", "never one"},
		{"/", "", "never one"},
	} {
		tool := newTool(streams{}, environment{vars: []string{"HOME=" + home}, dir: test.cwd}, nil)
		dir, why := tool.defaultWorkspace()
		if dir != test.want || !strings.Contains(why, test.why) {
			t.Errorf("%s: %q, %q", test.cwd, dir, why)
		}
	}
}

// TestWorkspaceFlag: what a plan says of the first role's workspace.
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
	if r := torchx(t, dir, nil, "", "run", "--dryrun", "--workspace", "{a: {b: c}}", "utils.echo"); r.code != exitUsage || !strings.Contains(r.err, "--workspace") {
		t.Errorf("a map in a map: %d %s", r.code, r.err)
	}
}
