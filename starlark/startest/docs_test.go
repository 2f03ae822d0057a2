package startest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// TestDocsAreTrue checks that the documentation of t is complete, also on the page about tests.
func TestDocsAreTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "howto", "testing-components.md"))
	if err != nil {
		t.Fatal(err)
	}
	x := &test{}
	for name, d := range Docs() {
		if v, err := x.Attr(name); v == nil || err != nil {
			t.Errorf("t.%s is documented, but does not exist: %v", name, err)
		} else if _, call := v.(*starlark.Builtin); call != strings.HasPrefix(d.Signature, "t."+name+"(") {
			t.Errorf("t.%s: got signature %s, want parameters for functions only", name, d.Signature)
		}
		if d.Text == "" || strings.Contains(d.Text, "\n") {
			t.Errorf("t.%s: got %q, want one paragraph", name, d.Text)
		}
		if !strings.Contains(string(page), "`t."+name+"(") && !strings.Contains(string(page), "`t."+name+"`") {
			t.Errorf("the page lacks t.%s", name)
		}
	}
}
