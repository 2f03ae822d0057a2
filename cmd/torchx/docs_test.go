package main

import (
	"path/filepath"
	"testing"

	"torchx/cmd/internal/program"
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
