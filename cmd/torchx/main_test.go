package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"torchx/backends/all"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/test/binary"
	"torchx/test/homedir"
)

// noEngine is the address of the Docker Engine in these tests, which must not depend on an
// engine of the machine.
const noEngine = "unix:///nowhere/docker.sock"

// patience is how long a test waits for a state before it fails. It is far more than a busy machine
// needs, and less than the time limit of all tests, whose end would not name what was waited for.
const patience = 4 * time.Minute

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

// runTests runs the tests with torchx first in PATH.
func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "torchx-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if _, err := binary.Build(dir, coverFlags(raceFlags)...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	err = errors.Join(os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH")), os.Setenv("DOCKER_HOST", noEngine))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// coverFlags adds what makes the program count its statements if the test counts its own.
func coverFlags(flags []string) []string {
	if testing.CoverMode() == "" {
		return flags
	}
	flag.Parse()
	if err := os.Setenv("GOCOVERDIR", flag.Lookup("test.gocoverdir").Value.String()); err != nil {
		panic(err)
	}
	return append(flags, "-cover", "-covermode="+testing.CoverMode(), "-coverpkg=torchx/...")
}

func TestScripts(t *testing.T) {
	t.Parallel()
	hasPython(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("TORCHX_HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("HOME", filepath.Join(e.WorkDir, "user"))
			e.Setenv("WORK_PATH", (&url.URL{Path: filepath.ToSlash(e.WorkDir)}).EscapedPath()) // in URLs
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			e.Setenv("DOCKER_HOST", noEngine)
			comps, err := os.ReadFile("testdata/comps.star")
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(e.WorkDir, "comps.star"), comps, 0o600)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": codeCommand, "schema": schemaCommand},
	})
}

// codeCommand is the script command `code N program args...`: the program must exit with
// code N. stdout and stderr can match its output.
func codeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// result is the output and the exit code of a command.
type result struct {
	code     int
	out, err string
}

// torchx runs a command in this process with the working folder dir.
func torchx(t *testing.T, dir string, vars []string, stdin string, args ...string) result {
	t.Helper()
	exe, err := exec.LookPath("torchx")
	must(t, err)
	var out, errs bytes.Buffer
	env := program.Environment{
		Vars: append([]string{
			"TORCHX_HOME=" + filepath.Join(dir, "home"), "HOME=" + dir, "PATH=" + os.Getenv("PATH"),
		}, vars...),
		Dir: dir, Exe: exe, Signals: make(chan os.Signal), Registry: all.New,
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	code := program.Run(ctx, append([]string{"torchx"}, args...), ui.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs}, env, torchxProgram())
	return result{code, out.String(), errs.String()}
}

// caseDir returns a folder with the component files that the cases name.
func caseDir(t *testing.T) string {
	t.Helper()
	dir := homedir.New(t)
	comps, err := os.ReadFile("testdata/comps.star")
	must(t, err)
	for name, text := range map[string]string{
		"comps.star":     string(comps),
		"broken.star":    "def comp(:\n    pass\n",
		"importerr.star": "load(\"./nothing.star\", \"x\")\n\ndef comp():\n    return x\n",
		"badcfg":         "[local]\nprepend_cwd=maybe\n[kubernetes]\nvalidate_spec=maybe\n",
		"notini":         "not a configuration\n",
		"x.py":           "",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
