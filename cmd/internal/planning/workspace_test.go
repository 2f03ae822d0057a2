package planning

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
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
		{plain, "", "is not a project"},
		{home, "", "never used as a whole"},
		{link, "", "never used as a whole"},
		{"/", "", "never used as a whole"},
	} {
		tool := program.NewFactory(ui.Streams{}, program.Environment{Vars: []string{"HOME=" + home}, Dir: test.cwd}, program.Definition{}, nil)
		dir, why := defaultWorkspace(tool)
		if dir != test.want || !strings.Contains(why, test.why) {
			t.Errorf("%s: %q, %q", test.cwd, dir, why)
		}
	}
}
