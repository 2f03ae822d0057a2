package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"torchx/test/homedir"
)

// TestShareFolder: the user of a container writes to the folder, and the app's user reads and
// deletes what it wrote.
func TestShareFolder(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "root") {
			t.Fatal("TORCHX_REQUIRE has root, but this is another user")
		}
		t.Skip("needs root, to run programs as two users; TORCHX_REQUIRE=root makes this a failure")
	}
	const owner, other = 12345, 23456
	parent := homedir.Public(t)
	if parent == "" {
		t.Fatal("got no folder that other users can enter")
	}
	dir := filepath.Join(parent, "output")
	for _, err := range []error{os.Mkdir(dir, 0o700), os.Chown(dir, owner, owner), shareFolder(dir, owner)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	as := func(uid uint32, script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", script, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	as(other, "umask 077; mkdir -p a/b; echo 1 >a/b/f")
	if got := as(owner, "cat a/b/f; rm -r a; ls"); got != "1" {
		t.Errorf("got %q, want 1", got)
	}
	as(other, "echo 2 >mine")
	if got := as(owner+1, "rm -f mine 2>/dev/null || cat mine"); got != "2" {
		t.Errorf("a third user: got %q, want 2", got)
	}
}
