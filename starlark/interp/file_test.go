package interp

import (
	"os"
	"path/filepath"
	"testing"

	"go.starlark.net/starlark"
)

// A file knows its own path, a loaded one its own, too.
func TestFileName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.star": "load('./b.star', 'there')\nhere = __file__\n", "b.star": "there = __file__\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i := New(Config{Dir: dir})
	for name, global := range map[string]string{"a.star": "here", "b.star": "there"} {
		m, err := i.LoadFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Globals[global]; got != starlark.String(filepath.Join(dir, name)) {
			t.Errorf("__file__ of %s is %v", name, got)
		}
	}
}
