//go:build unix

package procs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestLookPath: the cases in which shells go on to the next folder of PATH. Root may read all folders, so
// a file in place of a folder stands for one that cannot be searched where root runs the tests.
func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"good/p": 0o755, "plain/p": 0o644, "good/only": 0o755, "hidden/only": 0o755, "folder/p/x": 0o755} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, mode), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	hidden := filepath.Join(dir, "hidden")
	if os.Geteuid() == 0 {
		hidden += "/only"
	} else {
		if err := os.Chmod(hidden, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(hidden, 0o700) })
	}
	good, plain, folder := filepath.Join(dir, "good"), filepath.Join(dir, "plain"), filepath.Join(dir, "folder")
	for _, test := range []struct {
		name, list, want string
		err              error
	}{
		{"p", plain + ":" + folder + ":" + good, good + "/p", nil},
		{"p", good + ":" + plain, good + "/p", nil},
		{"p", plain, "", ErrNotExecutable},
		{"p", folder, "", ErrIsFolder},
		{"p", plain + ":" + hidden, "", ErrNotExecutable},
		{"p", hidden, "", ErrNotFound},
		{"p", hidden + ":" + good, good + "/p", nil},
		{"p", "", "", ErrNotFound},
		{"p", "good", good + "/p", nil}, // relative to the working folder
		{"only", ":" + good, good + "/only", nil},
		{"good/p", "", good + "/p", nil},
		{plain + "/p", "", plain + "/p", ErrNotExecutable},
		{"./none", good, filepath.Join(dir, "none"), ErrNotFound},
	} {
		got, err := LookPath(test.name, test.list, dir)
		if got != test.want || !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
			t.Errorf("LookPath(%q, %q): got %q, %v, want %q, %v", test.name, test.list, got, err, test.want, test.err)
		}
	}
	if os.Geteuid() != 0 {
		if _, err := LookPath(hidden+"/only", "", dir); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("path below an unreadable folder: got %v, want fs.ErrPermission", err)
		}
	}
}
