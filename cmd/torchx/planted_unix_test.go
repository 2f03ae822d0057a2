//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"torchx/runtime/agent"
	"torchx/test/homedir"
	"torchx/test/long"
)

// plants create something other than a regular file at a path.
var plants = map[string]func(path string) error{
	"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
	"zero":   func(path string) error { return os.Symlink("/dev/zero", path) },
	"folder": func(path string) error { return os.Mkdir(path, 0o700) },
	"sparse": func(path string) error {
		f, err := os.Create(path)
		return errors.Join(err, f.Truncate(1<<40), f.Close())
	},
}

// bounded runs torchx, which must end within a bound.
func bounded(t *testing.T, dir string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errs strings.Builder
	c := exec.CommandContext(ctx, "torchx", args...)
	c.Dir, c.Stdout, c.Stderr = dir, &out, &errs
	c.Env = append(os.Environ(), "TORCHX_HOME="+filepath.Join(dir, "home"), "HOME="+dir, "GORACE=atexit_sleep_ms=0")
	err := c.Run()
	if ctx.Err() != nil {
		t.Errorf("%s: hangs\n%s", strings.Join(args, " "), &errs)
	}
	if strings.Contains(errs.String(), "internal error") {
		t.Errorf("%s: %s", strings.Join(args, " "), &errs)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// homeOfTwo returns a folder with a home of two apps: one succeeded, the agent of the other
// died.
func homeOfTwo(t *testing.T) (dir, good, dead string) {
	t.Helper()
	dir = caseDir(t)
	id := func(r result) string {
		if r.code != 0 {
			t.Fatalf("run: exit code %d: %s", r.code, r.err)
		}
		return strings.TrimSpace(r.out[strings.LastIndexByte(r.out, '/')+1:])
	}
	good = id(bounded(t, dir, "run", "utils.echo", "--msg", "fine"))
	dead = id(bounded(t, dir, "run", "-d", "utils.sh", "--", "sleep", "600"))
	b := agent.BundleAt(filepath.Join(dir, "home"), dead)
	must(t, syscall.Kill(agentOf(t, b), syscall.SIGKILL))
	f, err := os.Open(filepath.Join(b.Dir, "agent.lock"))
	must(t, err)
	defer f.Close()
	must(t, unix.Flock(int(f.Fd()), unix.LOCK_EX)) // the agent is gone
	return dir, good, dead
}

// TestPlantedFiles: a pipe, a link, a folder or a huge file instead of a file of the home
// neither hangs a command nor hides other apps.
func TestPlantedFiles(t *testing.T) {
	t.Parallel()
	seed, good, dead := homeOfTwo(t)
	files := []string{
		"live/x", "live/" + dead, "queue/000000000001-x", "unrecorded/" + dead, "archive/live/x", "state.db", "state.db-wal", "apps/" + dead,
	}
	for _, name := range []string{"app.json", "status.json", "agent.lock", "agent.log", "starts.jsonl", "exits.jsonl", "cancel.json"} {
		files = append(files, "apps/"+dead+"/"+name)
	}
	must(t, filepath.WalkDir(filepath.Join(seed, "home", "apps", dead), func(path string, e fs.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(filepath.Join(seed, "home"), path); relErr == nil && (e.Name() == "log.idx" || e.Name() == "stdout.log") {
			files = append(files, rel)
		}
		return err
	}))
	for kind, plant := range plants {
		for _, file := range files {
			t.Run(kind+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				if filepath.Base(file) != "status.json" {
					long.Test(t)
				}
				dir := homedir.New(t)
				must(t, os.CopyFS(filepath.Join(dir, "home"), os.DirFS(filepath.Join(seed, "home"))))
				manifest := filepath.Join(dir, "home", "apps", dead, "app.json")
				text, err := os.ReadFile(manifest)
				must(t, err)
				must(t, os.WriteFile(manifest, bytes.ReplaceAll(text, []byte(seed), []byte(dir)), 0o600)) // it contains the path of the logs
				path := filepath.Join(dir, "home", file)
				must(t, os.RemoveAll(path))
				must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must(t, plant(path))
				for _, command := range []string{"status", "log", "delete"} {
					if r := bounded(t, dir, command, "local://torchx/"+dead); r.code != 0 && strings.Count(r.err, "torchx: error:") > 1 {
						t.Errorf("%s: got %q, want one line", command, r.err)
					}
				}
				if r := bounded(t, dir, "list", "-b", "local"); r.code != 0 || !strings.Contains(r.out, good) {
					t.Errorf("list: exit code %d, got %q, %q, want %s", r.code, r.out, r.err, good)
				}
			})
		}
	}
}

// TestPlantedInputs: the same for the user's own files, which may be links to files.
func TestPlantedInputs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		args []string
	}{
		{".dockerignore", []string{"run", "--dryrun", "-b", "docker", "--workspace", "file://.", "utils.echo", "--image", "alpine"}},
		{"Dockerfile.torchx", []string{"run", "--dryrun", "-b", "docker", "--workspace", "file://.", "utils.echo", "--image", "alpine"}},
		{".torchxconfig", []string{"list"}},
		{"torchx.lock", []string{"component", "list"}},
		{"torchx.libs", []string{"component", "list"}},
		{"x.star", []string{"run", "--dryrun", "x.star:x"}},
		{"x.star", []string{"component", "lint", "x.star"}},
		{"job.json", []string{"submit", "job.json"}},
		{"x.py", []string{"migrate", "x.py"}},
	}
	for kind, plant := range plants {
		for _, test := range tests {
			t.Run(kind+"/"+test.file, func(t *testing.T) {
				t.Parallel()
				dir := homedir.New(t)
				path := filepath.Join(dir, test.file)
				must(t, plant(path))
				r := bounded(t, dir, test.args...)
				if strings.Count(r.err, "\n") > 3 || len(r.err) > 2000 {
					t.Errorf("%v: got %q, want one line", test.args, r.err)
				}
			})
		}
	}
}
