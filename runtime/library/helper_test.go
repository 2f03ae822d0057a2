package library

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "torchx/test/cleanenv"

	"torchx/runtime/library/git"
)

// gitEnv isolates git from the settings of the user who runs the tests.
func gitEnv(home string) []string {
	return append(os.Environ(), "HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM="+os.DevNull)
}

// repo is a git repository of a test.
type repo struct {
	t   *testing.T
	dir string
}

func newRepo(t *testing.T, files map[string]string) *repo {
	t.Helper()
	r := &repo{t, t.TempDir()}
	r.git("init", "-q", "-b", "main")
	r.commit(files)
	return r
}

func (r *repo) url() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(r.dir)}).String()
}

// git runs a git command in the repository and returns its output.
func (r *repo) git(args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=n", "-c", "user.email=e@example.com", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir, cmd.Env = r.dir, gitEnv(r.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, commits everything and returns the commit.
func (r *repo) commit(files map[string]string) string {
	r.t.Helper()
	write(r.t, r.dir, files)
	r.git("add", "-A", "-f")
	r.git("commit", "-q", "--allow-empty", "-m", "m")
	return r.git("rev-parse", "HEAD")
}

// write writes files below dir.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bench is a project with a cache and git settings.
type bench struct {
	*Manager
	t        *testing.T
	messages []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t}
	b.Manager = &Manager{
		Root: t.TempDir(), Cache: &Cache{Dir: filepath.Join(t.TempDir(), "libs")},
		Git: &git.Client{Env: gitEnv(t.TempDir())}, Loads: fakeLoads,
		Report: func(text string) { b.messages = append(b.messages, text) },
	}
	b.Dir = b.Root
	return b
}

var loadLine = regexp.MustCompile(`^load\("@([^/"]+)//`)

// fakeLoads finds load statements at the start of a line.
func fakeLoads(_ string, source []byte) ([]Need, error) {
	var needs []Need
	for i, line := range strings.Split(string(source), "\n") {
		if m := loadLine.FindStringSubmatch(line); m != nil {
			needs = append(needs, Need{m[1], i + 1})
		}
	}
	return needs, nil
}

func (b *bench) add(lib Library) *Change {
	b.t.Helper()
	c, err := b.Add(context.Background(), lib)
	must(b.t, err)
	return c
}

// read returns a library's file as a component would get it.
func (b *bench) read(lib, name string) (string, error) {
	fsys, err := (&Set{Cache: b.Cache, Dir: b.Root}).Open(b.Root, lib)
	if err != nil {
		return "", err
	}
	data, err := fs.ReadFile(fsys, name)
	return string(data), err
}

// reads checks the content of a library's file.
func (b *bench) reads(lib, name, want string) {
	b.t.Helper()
	if got, err := b.read(lib, name); err != nil || got != want {
		b.t.Errorf("@%s//%s: got %q, %v, want %q", lib, name, got, err, want)
	}
}

// text returns a file of the project.
func (b *bench) text(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(filepath.Join(b.Root, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		b.t.Fatal(err)
	}
	return string(data)
}

// wantError checks that err is one line with all parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("got no error, want %q", parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got error %q, want %q", err, part)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %q, want one line", err)
	}
}

// shell runs a shell command in the repository and returns its output.
func (r *repo) shell(command string) string {
	r.t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = r.dir, gitEnv(r.dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return strings.TrimSpace(string(out))
}
