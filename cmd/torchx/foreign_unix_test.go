//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/test/homedir"
)

// TestForeignHome: all commands refuse a home that belongs to another user, even in part.
func TestForeignHome(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if strings.Contains(","+os.Getenv("TORCHX_REQUIRE")+",", ",root,") {
			t.Fatal("TORCHX_REQUIRE has root, and this is another user")
		}
		t.Skip("needs root, to give files to another user; TORCHX_REQUIRE=root makes this a failure")
	}
	const other = 54321
	seed := caseDir(t)
	handle := strings.TrimSpace(bounded(t, seed, "run", "utils.echo", "--msg", "fine").out)
	for part, want := range map[string]string{
		"":                              "belongs to uid 54321, and torchx runs as root (uid 0): run torchx as that user (sudo -u '#54321' torchx …), or set TORCHX_HOME to your own folder",
		"apps":                          "apps belongs to uid 54321",
		"live":                          "live belongs to uid 54321",
		"state.db":                      "state.db belongs to uid 54321",
		"apps/" + filepath.Base(handle): filepath.Base(handle) + " belongs to uid 54321",
	} {
		t.Run(filepath.Base(part), func(t *testing.T) {
			t.Parallel()
			dir := homedir.New(t)
			home := filepath.Join(dir, "home")
			must(t, os.CopyFS(home, os.DirFS(filepath.Join(seed, "home"))))
			must(t, os.MkdirAll(filepath.Join(home, "live"), 0o700))
			must(t, os.Lchown(filepath.Join(home, part), other, other))
			before := snapshot(t, home)
			commands := [][]string{{"status", handle}, {"log", handle}, {"delete", handle}}
			if !strings.HasPrefix(part, "apps/") {
				commands = append(commands, []string{"list"}, []string{"prune", "--all", "--force"}, []string{"doctor", "-b", "local"}, []string{"run", "utils.echo"})
			}
			for _, command := range commands {
				r := bounded(t, dir, command...)
				if r.code == 0 || !strings.Contains(r.err+r.out, want) {
					t.Errorf("%v: got exit code %d, %q, want an error with %q", command, r.code, r.err, want)
				}
			}
			if after := snapshot(t, home); !strings.HasPrefix(part, "apps/") && after != before {
				t.Errorf("the home has changed: got\n%s\nwant\n%s", after, before)
			}
		})
	}
}

// snapshot returns a list of the files below a folder.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all.WriteString(path + "\n")
		return err
	}))
	return all.String()
}
