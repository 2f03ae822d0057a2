package provenance

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "torchx/test/cleanenv"

	"torchx/runtime/history"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// checkout is a repository of a test.
type checkout struct {
	t   *testing.T
	dir string
	env []string
}

// needProgram returns the path of a program. Without it the test is skipped, unless
// TORCHX_REQUIRE has git: where git is required, the others are there.
func needProgram(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if slices.Contains(strings.Split(os.Getenv("TORCHX_REQUIRE"), ","), "git") {
			t.Fatal(err)
		}
		t.Skipf("%v; TORCHX_REQUIRE=git makes this a failure", err)
	}
	return path
}

// newCheckout returns a checkout with one commit of a.txt on main.
func newCheckout(t *testing.T) *checkout {
	t.Helper()
	needProgram(t, "git")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	home := t.TempDir()
	c := &checkout{t, dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1"}}
	c.git("init", "--quiet")
	c.git("symbolic-ref", "HEAD", "refs/heads/main")
	c.git("config", "user.name", "n")
	c.git("config", "user.email", "e@x")
	c.write("a.txt", "one\n")
	c.commit()
	return c
}

func (c *checkout) git(args ...string) string {
	c.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *checkout) commit() {
	c.t.Helper()
	c.git("add", "--all")
	c.git("commit", "--quiet", "--message=x")
}

func (c *checkout) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	must(c.t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(c.t, os.WriteFile(path, []byte(text), 0o600))
}

// collect returns the state of the checkout and the text of its diff.
func (c *checkout) collect(dir string) (*history.Checkout, string) {
	c.t.Helper()
	found, packed, err := Collect(c.t.Context(), dir, Options{Env: c.env, Scratch: c.t.TempDir(), Diff: true})
	must(c.t, err)
	if packed == nil {
		return found, ""
	}
	zip, err := gzip.NewReader(bytes.NewReader(packed))
	must(c.t, err)
	text, err := io.ReadAll(zip)
	must(c.t, err)
	return found, string(text)
}

func (c *checkout) wantNames(found *history.Checkout, changed, untracked string) {
	c.t.Helper()
	if got := strings.Join(found.Files, " "); got != changed || found.Changed != len(strings.Fields(changed)) {
		c.t.Errorf("got %d changed files %q, want %q", found.Changed, got, changed)
	}
	if got := strings.Join(found.UntrackedFiles, " "); got != untracked {
		c.t.Errorf("got untracked files %q, want %q", got, untracked)
	}
	if want := changed+untracked != ""; found.Dirty == nil || *found.Dirty != want {
		c.t.Errorf("got dirty %v, want %v", found.Dirty, want)
	}
}

func TestCollect(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	c.git("remote", "add", "origin", "https://me:secret@host/o/r.git")
	found, diff := c.collect(c.dir)
	if found.Commit != c.git("rev-parse", "HEAD") || found.Branch != "main" || found.Remote != "https://host/o/r.git" || found.Root != c.dir || diff != "" {
		t.Errorf("got %+v and diff %q, want the clean checkout", found, diff)
	}
	c.wantNames(found, "", "")

	c.write(".git/info/exclude", "ignored\n")
	c.write("ignored", "")
	c.write("a.txt", "two\n")
	c.write("bin", "\x00\x01")
	c.git("add", "bin")
	c.write("sub/new", "")
	found, diff = c.collect(filepath.Join(c.dir, "sub"))
	c.wantNames(found, "a.txt bin", "sub/")
	if want := c.git("diff", "--binary", "--full-index", "HEAD"); strings.TrimSpace(diff) != want {
		t.Errorf("got diff %q, want %q", diff, want)
	}

	c.git("checkout", "--quiet", "--detach")
	if found, _ = c.collect(c.dir); found.Branch != "" {
		t.Errorf("got branch %q of a detached HEAD", found.Branch)
	}
}

// TestKinds: checkouts whose git folder is not plain.
func TestKinds(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]func(c *checkout) string{
		"worktree": func(c *checkout) string {
			c.git("worktree", "add", "--quiet", "tree")
			c.dir = filepath.Join(c.dir, "tree")
			return c.dir
		},
		"split index": func(c *checkout) string {
			c.git("update-index", "--split-index")
			return c.dir
		},
		"separate": func(c *checkout) string {
			c.git("init", "--quiet", "--separate-git-dir="+filepath.Join(c.t.TempDir(), "git"))
			return c.dir
		},
		"a name with patterns": func(c *checkout) string {
			must(c.t, os.Rename(c.dir, c.dir+"[x]*"))
			c.dir += "[x]*"
			c.git("update-index", "--split-index")
			return c.dir
		},
		"user's ignored files": func(c *checkout) string {
			must(c.t, os.MkdirAll(filepath.Join(variable(c.env, "HOME"), ".config/git"), 0o700))
			must(c.t, os.WriteFile(filepath.Join(variable(c.env, "HOME"), ".config/git/ignore"), []byte("b.txt\n"), 0o600))
			c.write("b.txt", "")
			return c.dir
		},
		"line ends": func(c *checkout) string {
			c.git("config", "core.autocrlf", "true")
			c.write("b.txt", "one\r\n")
			c.commit()
			old := time.Now().Add(-time.Hour)
			must(c.t, os.Chtimes(filepath.Join(c.dir, "b.txt"), old, old))
			return c.dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			dir := dir(c)
			found, _ := c.collect(dir)
			c.wantNames(found, "", "")
			c.write("a.txt", "two\n")
			found, diff := c.collect(dir)
			c.wantNames(found, "a.txt", "")
			if !strings.Contains(diff, "+two") {
				t.Errorf("got diff %q", diff)
			}
		})
	}
}

// TestRunsNothingOfTheCheckout: each way in which a repository names programs to git. Each
// plants a program that leaves a file; git alone would run it.
func TestRunsNothingOfTheCheckout(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(c *checkout, program string){
		"fsmonitor": func(c *checkout, program string) { c.git("config", "core.fsmonitor", quoted(program)) },
		"clean filter": func(c *checkout, program string) {
			c.write(".gitattributes", "*.txt filter=x\n")
			c.git("config", "filter.x.clean", quoted(program))
		},
		"filter with = in its name": func(c *checkout, program string) {
			c.write(".gitattributes", "*.txt filter=a=b\n")
			c.git("config", "filter.a=b.clean", quoted(program))
		},
		"filter process": func(c *checkout, program string) {
			c.write(".git/info/attributes", "*.txt filter=x\n")
			c.git("config", "filter.x.process", quoted(program))
			c.git("config", "filter.x.required", "true")
		},
		"included filter": func(c *checkout, program string) {
			c.write(".gitattributes", "*.txt filter=x\n")
			c.write("evil", "[filter \"x\"]\n\tclean = "+quoted(program)+"\n")
			c.git("config", "include.path", "../evil")
		},
		"textconv": func(c *checkout, program string) {
			c.write(".gitattributes", "*.txt diff=x\n")
			c.git("config", "diff.x.textconv", quoted(program))
		},
		"diff driver": func(c *checkout, program string) {
			c.write(".gitattributes", "*.txt diff=x\n")
			c.git("config", "diff.x.command", quoted(program))
		},
		"external diff": func(c *checkout, program string) { c.git("config", "diff.external", quoted(program)) },
		"hooks": func(c *checkout, program string) {
			for _, hook := range []string{"post-index-change", "fsmonitor-watchman", "pre-auto-gc", "reference-transaction"} {
				must(c.t, os.Symlink(program, filepath.Join(c.dir, ".git/hooks", hook)))
			}
		},
		"submodule": func(c *checkout, program string) {
			sub := newCheckout(c.t)
			must(c.t, os.Rename(sub.dir, filepath.Join(c.dir, "sub")))
			sub.dir = filepath.Join(c.dir, "sub")
			c.git("add", "sub")
			c.git("commit", "--quiet", "--message=sub")
			sub.git("config", "core.fsmonitor", quoted(program))
		},
		"lazy fetch": func(c *checkout, program string) {
			c.git("config", "core.repositoryformatversion", "1")
			c.git("config", "extensions.partialClone", "origin")
			c.git("config", "remote.origin.url", "ext::"+strings.ReplaceAll(program, " ", "% "))
			c.git("config", "remote.origin.promisor", "true")
			c.git("config", "protocol.ext.allow", "always")
			blob := c.git("rev-parse", "HEAD:a.txt")
			must(c.t, os.Remove(filepath.Join(c.dir, ".git/objects", blob[:2], blob[2:])))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCheckout(t)
			program, mark := filepath.Join(t.TempDir(), "evil"), filepath.Join(t.TempDir(), "ran")
			must(t, os.WriteFile(program, []byte("#!/bin/sh\n: > \""+mark+"\"\nexit 0\n"), 0o700))
			plant(c, program)
			c.write("a.txt", "two\n")
			found, _ := c.collect(c.dir)
			if _, err := os.Stat(mark); err == nil {
				t.Error("the program ran")
			}
			if found.Dirty == nil || !*found.Dirty || !slices.Contains(found.Files, "a.txt") {
				t.Errorf("got %+v, want the change of a.txt", found)
			}
			_, err := os.Stat(mark)
			for tries := 0; err != nil && tries < 20; tries++ { // a program that was just written may be busy
				for _, args := range [][]string{{"status"}, {"diff"}, {"update-index", "--force-write-index"}} { // their errors do not matter
					cmd := exec.Command("git", args...)
					cmd.Dir, cmd.Env = c.dir, c.env
					_ = cmd.Run()
				}
				_, err = os.Stat(mark)
			}
			if err != nil {
				t.Error("git alone does not run the program either: the test proves nothing")
			}
		})
	}
}

// quoted returns a path as git passes it to a shell.
func quoted(path string) string { return "'" + path + "'" }

func TestLargeDiff(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 2*maxDiff)
	for i := range text {
		text[i] = "0123456789abcdefghijklmnopqrstuv"[random.IntN(32)]
		if i%80 == 79 {
			text[i] = '\n'
		}
	}
	c.write("a.txt", string(text))
	found, diff := c.collect(c.dir)
	if diff != "" || found.DiffSum != "" || !strings.Contains(found.DiffStat, "a.txt") || !strings.Contains(found.DiffStat, "1 file changed") {
		t.Errorf("got a diff of %d bytes and the statistics %q, want only statistics", len(diff), found.DiffStat)
	}
}

// TestHang: a checkout can make git wait forever; what is known by then is kept.
func TestHang(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	mkfifo := needProgram(t, "mkfifo")
	c.write("a.txt", "two\n")
	must(t, exec.Command(mkfifo, filepath.Join(c.dir, ".git/info/attributes")).Run())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	found, diff, err := Collect(ctx, c.dir, Options{Env: c.env, Scratch: t.TempDir(), Diff: true})
	if err != nil || found.Commit == "" || diff != nil && found.Dirty == nil {
		t.Errorf("got %+v, %v, want the commit", found, err)
	}
}

func TestNothingToCollect(t *testing.T) {
	t.Parallel()
	c := newCheckout(t)
	empty := t.TempDir()
	for name, dir := range map[string]string{"no checkout": empty, "no folder": filepath.Join(empty, "x"), "git's own folder": filepath.Join(c.dir, ".git")} {
		if found, _, err := Collect(t.Context(), dir, Options{Env: c.env, Scratch: t.TempDir()}); err == nil {
			t.Errorf("%s: got %+v, want an error", name, found)
		}
	}
	c.git("checkout", "--quiet", "--orphan", "empty")
	if found, _, err := Collect(t.Context(), c.dir, Options{Env: c.env, Scratch: t.TempDir()}); err == nil {
		t.Errorf("no commit: got %+v, want an error", found)
	}
	c.git("config", "core.worktree", empty)
	c.git("symbolic-ref", "HEAD", "refs/heads/main")
	if found, _, err := Collect(t.Context(), c.dir, Options{Env: c.env, Scratch: t.TempDir()}); err == nil {
		t.Errorf("files elsewhere: got %+v, want an error", found)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	lock, err := Begin(home, "local://torchx/a")
	must(t, err)
	scratch, err := Scratch(home, "local://torchx/a")
	must(t, err)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		Wait(t.Context(), home, "local://torchx/a")
	}()
	Wait(t.Context(), home, "local://torchx/b") // nothing collects for it
	select {
	case <-waited:
		t.Error("Wait returned while the lock was held")
	default:
	}
	lock.Close()
	<-waited
	left := filepath.Dir(scratch)
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(left, old, old))
	End(home, "local://torchx/b") // removes what a dead process left
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want the folder of the dead process removed", err)
	}
}
