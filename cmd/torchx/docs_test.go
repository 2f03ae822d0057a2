package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"torchx/cmd/internal/program"
	"torchx/test/homedir"
)

// TestBuiltinPages: docs/components says what the built-in components say.
func TestBuiltinPages(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	must(t, err)
	vars := []string{"TORCHX_HOME=" + t.TempDir(), "TORCHXCONFIG="}
	if r := torchx(t, root, vars, "", "component", "doc", "--check", "-o", "docs/components", "--title", "Built-in components", "components"); r.code != program.ExitOK {
		t.Errorf("docs/components is stale: run `make docs`\n%s", r.err)
	}
}

// TestManPages: mandoc has nothing to say about the man pages of `torchx docs --man`.
func TestManPages(t *testing.T) {
	t.Parallel()
	mandoc, dir := toolPath(t, "mandoc"), t.TempDir()
	torchx(t, dir, nil, "", "docs", "--man", "-o", "man")
	pages, err := filepath.Glob(filepath.Join(dir, "man", "*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("got %d pages, %v, want one for each command", len(pages), err)
	}
	if out, err := exec.Command(mandoc, append([]string{"-Tlint"}, pages...)...).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc -Tlint: %v\n%s", err, out)
	}
}

// TestFilesPage: docs/reference/files.md names every file that a run leaves in TORCHX_HOME.
func TestFilesPage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(referenceDir, "files.md"))
	must(t, err)
	home := homedir.New(t)
	const script = "echo out; echo '{}' > $TORCHELASTIC_ERROR_FILE; exit 3"
	torchx(t, t.TempDir(), []string{"TORCHX_HOME=" + home, "TORCHXCONFIG="}, "", "run", "--queue", "utils.sh", "-c", script)
	err = filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && strings.HasPrefix(entry.Name(), ".") {
			return nil // the agent tidies up
		}
		isReplica := strings.Contains(path, "replicas"+string(filepath.Separator))
		isApp := filepath.Dir(path) == filepath.Join(home, "apps")
		if err == nil && path != home && !isApp && (!isReplica || !entry.IsDir()) && filepath.Base(filepath.Dir(path)) != "live" &&
			!strings.Contains(string(page), entry.Name()) {
			t.Errorf("the page does not name %s", path)
		}
		return err
	})
	must(t, err)
}
