package goldens

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// fakeSMI is a fake nvidia-smi of a machine with eight GPUs.
const fakeSMI = `#!/bin/sh
for i in 0 1 2 3 4 5 6 7; do echo "GPU $i: Fake (UUID: GPU-$i)"; done
`

// sandbox is a temporary folder with the files of the recorded runs.
type sandbox struct {
	root    string
	folders map[string]string // path by placeholder, as in the recordings
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	// Not t.TempDir: its path contains the name of the test, and commas have a meaning in -cfg.
	temp, err := os.MkdirTemp("", "torchx-goldens-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(temp) })
	root, err := filepath.EvalSymlinks(temp) // programs get their folder without links
	must(t, err)
	s := &sandbox{root: root, folders: map[string]string{}}
	for placeholder, name := range map[string]string{
		"$CASES": "cases", "$HOME": "home", "$LOGS": "logs", "$PEER": "peer",
		"$CFG": "cases/torchxconfig", "$CASEROOT": "",
	} {
		s.folders[placeholder] = filepath.Join(root, name)
	}
	must(t, os.CopyFS(s.folders["$CASES"], os.DirFS("testdata/cases")))
	s.write(t, "cases/torchxconfig", strings.ReplaceAll(s.read(t, "cases/torchxconfig"), "/peer/", s.folders["$PEER"]+"/"))
	s.write(t, "fakebin/nvidia-smi", fakeSMI)
	must(t, os.Mkdir(s.folders["$HOME"], 0o700))
	return s
}

func (s *sandbox) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.root, name))
	must(t, err)
	return string(data)
}

// write creates an executable file and its folder.
func (s *sandbox) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.root, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(text), 0o700))
}

// placeholders matches all placeholders, longest first.
var placeholders = regexp.MustCompile(`\$(CASEROOT|CASES|HOME|LOGS|PEER|CFG)`)

// fill replaces placeholders by paths.
func (s *sandbox) fill(text string) string {
	return placeholders.ReplaceAllStringFunc(text, func(p string) string { return s.folders[p] })
}

// outcome is the exit code and output of a command line.
type outcome struct {
	code        int
	out, errors string
}

// torchx runs a command line with exactly the environment vars, in $CASES or the folder in
// below it.
func (s *sandbox) torchx(t *testing.T, vars map[string]string, in string, argv ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = s.fill(a)
	}
	c := exec.CommandContext(ctx, program, args...)
	c.Dir = filepath.Join(s.folders["$CASES"], in)
	names := slices.Sorted(maps.Keys(vars))
	slices.Reverse(names) // in the recordings FOO_B precedes FOO_A
	for _, k := range names {
		c.Env = append(c.Env, k+"="+s.fill(vars[k]))
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Logf("torchx %s\n%s", strings.Join(args, " "), errs.String())
	return outcome{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// files lists the files of the sandbox.
func (s *sandbox) files(t *testing.T) []string {
	t.Helper()
	var all []string
	must(t, fs.WalkDir(os.DirFS(s.root), ".", func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	}))
	return all
}

// dryrun runs torchx and checks that it creates no file: a plan is a pure computation.
func (s *sandbox) dryrun(t *testing.T, vars map[string]string, in string, argv ...string) outcome {
	t.Helper()
	before := s.files(t)
	o := s.torchx(t, vars, in, argv...)
	if after := s.files(t); !slices.Equal(before, after) {
		t.Errorf("the dry run created or removed files\nbefore %q\nafter  %q", before, after)
	}
	o.checkMessages(t)
	return o
}

// checkMessages checks stderr: warnings, then for a failure exactly one line with the
// error, which the position in the component's source may follow, indented.
func (o outcome) checkMessages(t *testing.T) {
	t.Helper()
	failures := 0
	for line := range strings.Lines(o.errors) {
		switch {
		case strings.HasPrefix(line, "torchx: error: "):
			failures++
		case strings.HasSuffix(line, " of this folder\n") && failures == 0: // it hides a built-in component
		case strings.HasPrefix(line, "torchx: no --script or -m: ") && failures == 0:
		case strings.HasPrefix(line, "  ") && failures == 1, strings.HasPrefix(line, "torchx: warning: ") && failures == 0:
		default:
			t.Errorf("unexpected line on stderr: %q", line)
		}
	}
	if (o.code != 0) != (failures == 1) {
		t.Errorf("got exit code %d with %d lines of errors", o.code, failures)
	}
	if o.code != 0 && o.out != "" {
		t.Errorf("got stdout %q of a failure, want none", o.out)
	}
	if strings.ContainsAny(o.errors, "\x1b\r") {
		t.Errorf("got control characters without a terminal: %q", o.errors)
	}
	if n := strings.Count(o.errors, " ignores: "); n > 1 {
		t.Errorf("got %d lines about ignored settings, want one", n)
	}
}
