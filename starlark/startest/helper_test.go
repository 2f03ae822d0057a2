package startest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"torchx/runtime/spec"
	"torchx/starlark/interp"
	"torchx/starlark/startest"
)

const workerDir = "TORCHX_TEST_WORKER_DIR" // set in a worker: the folder of its tests

func TestMain(m *testing.M) {
	if dir, ok := os.LookupEnv(workerDir); ok {
		if err := startest.Work(context.Background(), host(dir), os.Stdin, os.Stdout, os.Exit); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// host has a backend that returns its input, and exits the process for an app
// called "crash".
func host(dir string) startest.Host {
	return startest.Host{
		Dir: dir, Builtins: builtins(), Image: "img", Version: "1",
		Plan: func(app *spec.App, backend string, cfg map[string]string) ([]byte, error) {
			if app.Name == "crash" {
				fmt.Fprintln(os.Stderr, "fatal error: no more")
				os.Exit(2)
			}
			if backend == "nowhere" {
				return nil, fmt.Errorf("unknown backend %s", backend)
			}
			return json.Marshal(map[string]any{"name": app.Name, "backend": backend, "cfg": cfg})
		},
	}
}

func builtins() fs.FS {
	return fstest.MapFS{"one.star": &fstest.MapFile{Data: []byte(`
def one(n = 1):
    """One.

    Args:
        n (int): replicas
    """
    return specs.AppDef(name = "one", roles = [specs.Role(name = "r", image = torchx.IMAGE, entrypoint = "true", num_replicas = n)])
`), Mode: 0o644}}
}

// write creates files in a new folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// outcome is what a run reported.
type outcome struct {
	tests map[string]startest.Result     // by "file:test"
	files map[string]startest.FileResult // files that have ended
	cover []interp.FileCoverage
}

func (o *outcome) handle(m startest.Message) {
	if m.Test != nil {
		if _, retryFiles := o.tests[m.File+":"+m.Test.Name]; retryFiles {
			m.Test.Output = append(m.Test.Output, "THE TEST HAS TWO RESULTS")
		}
		o.tests[m.File+":"+m.Test.Name] = *m.Test
	}
	if m.Done != nil {
		o.files[m.File] = *m.Done
	}
	o.cover = append(o.cover, m.Coverage...)
}

func newOutcome() *outcome {
	return &outcome{tests: map[string]startest.Result{}, files: map[string]startest.FileResult{}}
}

func tasks(dir string) []startest.Task {
	var list []startest.Task
	names, err := filepath.Glob(filepath.Join(dir, "*_test.star"))
	if err != nil {
		return nil
	}
	for _, n := range names {
		list = append(list, startest.Task{File: filepath.Base(n)})
	}
	return list
}

// here runs all test files of a folder in this process.
func here(t *testing.T, dir string, o startest.Options) *outcome {
	t.Helper()
	out := newOutcome()
	r, err := startest.NewRunner(host(dir), o, out.handle)
	must(t, err)
	r.Run(t.Context(), tasks(dir))
	return out
}

// supervised runs them in workers.
func supervised(ctx context.Context, t *testing.T, dir string, o startest.Options) (*outcome, error) {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	out := newOutcome()
	out.cover, err = startest.Supervise(ctx, startest.Job{Options: o, Tasks: tasks(dir)}, func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, exe)
		cmd.Env = append(os.Environ(), workerDir+"="+dir)
		return cmd
	}, out.handle)
	return out, err
}

// one runs a test with this body and returns its result.
func one(t *testing.T, body string) startest.Result {
	t.Helper()
	text := "load(\"@torchx//one.star\", \"one\")\n\ndef test_x(t):\n    " + strings.ReplaceAll(body, "\n", "\n    ") + "\n"
	out := here(t, write(t, map[string]string{"x_test.star": text}), startest.Options{})
	r, ok := out.tests["x_test.star:test_x"]
	if !ok {
		t.Fatalf("no result: %+v", out.files)
	}
	return r
}

// outputOf returns the output of a test, including subtests.
func outputOf(r startest.Result) string {
	text := strings.Join(r.Output, "\n")
	for _, sub := range r.Subs {
		text += "\n" + string(sub.Status) + " " + sub.Name + "\n" + outputOf(sub)
	}
	return strings.Trim(text, "\n")
}
