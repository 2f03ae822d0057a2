package consent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree creates files, those in bin executable, and returns their folder.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, path, "text of "+name)
		if strings.HasPrefix(name, "bin/") {
			if err := os.Chmod(path, 0o700); err != nil { //nolint:gosec // a program
				t.Fatal(err)
			}
		}
	}
	return dir
}

func TestFiles(t *testing.T) {
	t.Parallel()
	dir := tree(t, "notify", "notify.sh", "bin/tool", "my notify.sh", "lib/x.py", "data.log", "x.so")
	write(t, filepath.Join(dir, "shebang"), "#!/bin/sh")
	for command, want := range map[string]string{
		"./notify.sh":                                 "notify.sh",
		"./notify":                                    "notify",
		"true && ./notify.sh > data.log":              "notify.sh",
		"sh notify":                                   "notify",
		"sh -e ./notify data.log":                     "notify",
		". ./notify":                                  "notify",
		"cat data.log | ./shebang":                    "shebang",
		"mail -a data.log me":                         "",
		"bin/tool data.log":                           "bin/tool",
		"cd lib; python3 x.py":                        "lib/x.py",
		"cd lib && ./x.py":                            "lib/x.py",
		"$PWD/notify.sh":                              "notify.sh",
		"\"${PWD}/notify.sh\"":                        "notify.sh",
		"'./my notify.sh' a":                          "my notify.sh notify.sh",
		"bash -c './notify.sh; ./bin/tool'":           "bin/tool notify.sh",
		"./notify*.sh":                                "notify.sh",
		"LD_PRELOAD=./x.so true":                      "x.so",
		"'" + filepath.Join(dir, "notify.sh") + "' a": "notify.sh",
		"echo done":                                   "",
		"/bin/sh -c true":                             "",
		"https://example.org/notify.sh":               "",
	} {
		var got []string
		for _, file := range Files(dir, command) {
			name, _ := filepath.Rel(dir, file)
			got = append(got, name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

func TestInside(t *testing.T) {
	t.Parallel()
	dir := tree(t, "sub/file")
	for link, to := range map[string]string{"in": "sub", "out": "..", "nowhere": "/nonexistent", "sub/deep": "/"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"", "sub", "sub/file", "new/folder", "in", "in/new"}
	outside := []string{"..", "../x", "sub/../..", "out", "out/x", "nowhere", "nowhere/x", "sub/deep/x", "in/../x"}
	for _, name := range slices.Concat(want, outside) {
		if got := Inside(dir, dir+"/"+name); got != slices.Contains(want, name) {
			t.Errorf("Inside(%q): got %v", name, got)
		}
	}
	if Inside(dir, "/") || Inside(filepath.Join(dir, "missing"), dir) {
		t.Error("got true for a path above the folder")
	}
}
