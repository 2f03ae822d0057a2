//go:build unix

package homes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/test/homedir"
)

// oldCommit is the last commit whose apps have no tags, no measurements and no outputs.
const oldCommit = "4a3b01054c"

// component runs a script with one retry per name that asks for it.
const component = `
def main(name, script):
    retries = 1 if name == "retries" else 0
    return specs.AppDef(name = name, roles = [specs.Role(name = "r", image = "", entrypoint = "sh", args = ["-c", script], max_retries = retries)])
`

// TestOldAgents: agents of the version at oldCommit run apps while this version migrates the
// home and works with them. Each app ends as if there were one version.
func TestOldAgents(t *testing.T) {
	t.Parallel()
	old, program := buildOld(t), build(t)
	dir := homedir.New(t)
	home := filepath.Join(dir, "home")
	if err := os.WriteFile(filepath.Join(dir, "component.star"), []byte(component), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // t.Context has ended
		end := exec.Command(program, "delete", "--all", "-f")
		end.Env = append(os.Environ(), "TORCHX_HOME="+home)
		if out, err := end.CombinedOutput(); err != nil {
			t.Errorf("end the apps: %v: %s", err, out)
		}
	})
	for name, script := range map[string]string{
		"ends":     "echo begins; until [ -e ends.go ]; do sleep 0.05; done; echo ended; exit 3",
		"canceled": "echo begins; sleep 300",
		"retries":  "echo begins; until [ -e retries.go ]; do sleep 0.05; done; [ -e again ] || { >again; exit 1; }; echo output:$TORCHX_OUTPUT:",
	} {
		want(t, run(t, old, home, time.Now(), []string{"run", "-d", "component.star:main", "--name", name, "--script", script}), "exit code 0")
	}
	now := func(expected string, args ...string) {
		t.Helper()
		want(t, run(t, program, home, time.Now(), args), expected)
	}
	now("3 apps RUNNING", "list")
	for _, name := range []string{"ends", "canceled", "retries"} {
		now("RUNNING", "status", name)
		now("begins", "log", name)
		now("exit code 0", "tag", name, "k=v")
		now("exit code 0", "note", name, "a note")
		now("k=v", "tag", name)
		now("a note", "describe", name)
		now("RUNNING", "events", name)
		now("it was submitted by an older torchx", "output", name)
	}
	now("3 apps RUNNING", "list", "--tag", "k")
	now("exit code 0", "cancel", "--wait", "canceled")
	for _, name := range []string{"ends", "retries"} {
		if err := os.WriteFile(filepath.Join(dir, name+".go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	now("exit code 3", "wait", "ends")
	now("exit code 0", "wait", "retries")
	now("CANCELLED", "status", "canceled")
	now("ended", "log", "ends")
	now("output::", "log", "retries")
	now("restart", "events", "retries")
	now("FAILED", "list", "--tag", "k=v", "--state", "failed")
	now("it was submitted by an older torchx", "output", "ends")
	now("3 apps", "prune", "--all", "-n")
	now("exit code 0", "rerun", "retries")
	now("exit code 0", "output", "-")
}

// want checks that the output of a command has a text; "N apps STATE" counts lines.
func want(t *testing.T, got, text string) {
	t.Helper()
	number, state, counts := strings.Cut(text, " apps ")
	if counts && strings.Count(got, state) != int(number[0]-'0') || !counts && !strings.Contains(got, text) {
		t.Errorf("got %s\nwant %q in it", got, text)
	}
}

// buildOld builds the program as it was at oldCommit.
func buildOld(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) error {
		return exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Run()
	}
	if err := git("cat-file", "-e", oldCommit+"^{commit}"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "history") {
			t.Fatalf("TORCHX_REQUIRE has history, but commit %s is missing: fetch all commits", oldCommit)
		}
		t.Skipf("commit %s is not in this checkout; TORCHX_REQUIRE=history makes this a failure", oldCommit)
	}
	dir := homedir.New(t)
	archive := filepath.Join(dir, "source.tar")
	if err := git("archive", "-o", archive, oldCommit); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "torchx")
	// With -trimpath Go's cache serves each new folder; `go run` caches the linked program too.
	script := `tar -xf source.tar && CGO_ENABLED=0 exec go run -exec=cp -trimpath -buildvcs=false -ldflags=-w ./cmd/torchx "$1"`
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script, "sh", program)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", oldCommit, err, out)
	}
	return program
}
