package library

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"torchx/runtime/library/git"
)

func TestContentIsAFileSystem(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x", "a/b/y.star": "yy", "a/c.star": "", "a.star": ""})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	fsys, err := (&Set{Cache: b.Cache}).Open(b.Root, "acme")
	must(t, err)
	var names []string
	must(t, fs.WalkDir(fsys, ".", func(name string, _ fs.DirEntry, err error) error {
		names = append(names, name)
		return err
	}))
	if got := strings.Join(names, " "); got != ". a a/b a/b/y.star a/c.star a.star x.star" {
		t.Errorf("got %s, want all files and folders", got)
	}
	// Stat does not know sizes, which the rest of fstest.TestFS requires.
	for _, name := range []string{"x.star", "a/b/y.star"} {
		f, err := fsys.Open(name)
		must(t, err)
		info, err := f.Stat()
		if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
			t.Errorf("%s: got %+v, %v, want a regular file with a size", name, info, err)
		}
	}
	if err := fstest.TestFS(fsys, "x.star", "a/b/y.star"); err != nil && strings.Contains(err.Error(), "not found") {
		t.Error(err)
	}
	for _, name := range []string{"../x.star", "/x.star", "nope", "a/nope", ""} {
		if _, err := fsys.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: got %v, want fs.ErrNotExist", name, err)
		}
	}
}

// TestInvalidStates: each invalid state of project, lock and cache has its own message with a
// remedy.
func TestInvalidStates(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	b := newBench(t)
	_, err := b.read("acme", "x.star")
	wantError(t, err, "torchx.libs not found; create it with `torchx lib add acme URL [REVISION]`")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	project, lock := b.text(ProjectFile), b.text(LockFile)
	_, err = b.read("acne", "x.star")
	wantError(t, err, "torchx.libs does not list it; add it with `torchx lib add acne URL [REVISION]`")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	for _, c := range []struct{ project, lock, want string }{
		{project, "", "it is not in torchx.lock: run `torchx lib sync`"},
		{strings.Replace(project, " main", " v1", 1), lock, "torchx.lock has revision main, but torchx.libs has v1: run `torchx lib sync`"},
		{strings.Replace(project, "file://", "file:///x", 1), lock, "torchx.libs has file:///x"},
		{project + "replace acme ../nowhere\n", lock, "torchx.libs:3: the replacement folder ../nowhere cannot be opened: no such file or directory"},
		{strings.Replace(project, "\n", " path=sub\n", 2), lock, "torchx.lock and torchx.libs have different paths"},
		{project + "nonsense\n", lock, `torchx.libs:3: "nonsense" is not a lib or replace line`},
		{project, lock[:len(lock)-10], "torchx.lock:10: broken lock file: "},
	} {
		write(t, b.Root, map[string]string{ProjectFile: c.project, LockFile: c.lock})
		if c.lock == "" {
			must(t, os.Remove(filepath.Join(b.Root, LockFile)))
		}
		_, err = b.read("acme", "x.star")
		wantError(t, err, c.want)
		if errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want an error that is not fs.ErrNotExist", err)
		}
	}
	write(t, b.Root, map[string]string{ProjectFile: project, LockFile: lock})
	path := b.Cache.path(SumOf([]byte("x")))
	must(t, os.WriteFile(path, []byte("y"), 0o600))
	_, err = b.read("acme", "x.star")
	wantError(t, err, "its copy in the cache was changed: run `torchx lib sync`, which fetches it again")
	must(t, os.Remove(path))
	_, err = b.read("acme", "x.star")
	wantError(t, err, "it is not fetched yet: run `torchx lib sync`")
	if _, err := b.Sync(context.Background()); err != nil {
		t.Error(err)
	}
	b.reads("acme", "x.star", "x")
}

// TestSpecialProjectFiles: folders in place of the files.
func TestSpecialProjectFiles(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must(t, os.Mkdir(filepath.Join(b.Root, ProjectFile), 0o755))
	_, err := b.read("acme", "x.star")
	wantError(t, err, "torchx.libs cannot be read: is a folder, want a regular file")
	_, err = b.Sync(context.Background())
	wantError(t, err, "torchx.libs cannot be read: is a folder, want a regular file")
}

func TestFolderLibrary(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write(t, b.Root, map[string]string{"my libs/x.star": "x", "my libs/.git/config": "", "my libs/.venv/y.star": ""})
	b.add(Library{Name: "tools", Folder: "./my libs"})
	b.reads("tools", "x.star", "x")
	if n := len(b.lock().Find("tools").Files); n != 1 {
		t.Errorf("got %d locked files, want 1", n)
	}
	write(t, b.Root, map[string]string{"my libs/x.star": "changed", "my libs/new.star": ""})
	_, err := b.read("tools", "x.star")
	wantError(t, err, "it was changed in ./my libs since it was locked: run `torchx lib update tools`")
	_, err = b.Sync(context.Background())
	wantError(t, err, "library @tools: ./my libs was changed since it was locked: x.star, new.star (new); `torchx lib update tools`")
	_, err = b.Update(context.Background(), nil)
	must(t, err)
	b.reads("tools", "x.star", "changed")
	must(t, os.Remove(filepath.Join(b.Root, "my libs", "x.star")))
	_, err = b.read("tools", "x.star")
	wantError(t, err, "it is gone from ./my libs: restore it")
	must(t, os.Symlink("/etc/passwd", filepath.Join(b.Root, "my libs", "x.star")))
	_, err = b.read("tools", "x.star")
	wantError(t, err, "path escapes")
	must(t, os.RemoveAll(filepath.Join(b.Root, "my libs")))
	_, err = b.read("tools", "x.star")
	wantError(t, err, "is gone from ./my libs")
	_, err = b.Update(context.Background(), nil)
	wantError(t, err, "library @tools: the folder ", "cannot be opened: no such file or directory")
}

// TestReplace: a library is edited together with the project.
func TestReplace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"x.star": "live"})
	must(t, os.Symlink("/etc/passwd", filepath.Join(dir, "out.star")))
	err := b.Replace("acme", dir)
	wantError(t, err, "torchx.libs has no library acme")
	// The repository does not exist, and need not while the folder replaces it.
	write(t, b.Root, map[string]string{ProjectFile: "lib acme https://nowhere.invalid/r v1\n"})
	must(t, b.Replace("acme", dir))
	b.reads("acme", "x.star", "live")
	write(t, dir, map[string]string{"x.star": "edited"})
	b.reads("acme", "x.star", "edited")
	for _, name := range []string{"out.star", "../x.star"} {
		if got, err := b.read("acme", name); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
	if changes, err := b.Sync(context.Background()); err != nil || len(changes) > 0 {
		t.Errorf("Sync: got %v, %v, want no changes", changes, err)
	}
	if done, err := b.Verify(context.Background()); err != nil || done.Replaced != 1 {
		t.Errorf("Verify: got %+v, %v, want one replaced", done, err)
	}
	wantError(t, b.Replace("acme", "./nowhere"), "nowhere is not a folder")
	must(t, b.Unreplace("acme"))
	_, err = b.read("acme", "x.star")
	wantError(t, err, "it is not in torchx.lock")
	wantError(t, b.Unreplace("acme"), "library acme is not replaced")
}

// TestChangedUnderTheLock: if a repository has different files at the locked commit, or no
// longer has the commit, Sync fails and keeps the lock.
func TestChangedUnderTheLock(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	must(t, os.RemoveAll(b.Cache.Dir))
	lock := b.lock()
	k := lock.Find("acme")
	k.Files[0].Sum = SumOf([]byte("y"))
	k.seal()
	tampered := string(lock.Text())
	write(t, b.Root, map[string]string{LockFile: tampered})
	_, err := b.Sync(context.Background())
	wantError(t, err, "library @acme: the files at file://", "differ from torchx.lock: x.star")
	k.Commit = strings.Repeat("12", 20)
	gone := string(lock.Text())
	write(t, b.Root, map[string]string{LockFile: gone})
	_, err = b.Sync(context.Background())
	wantError(t, err, "library @acme: the locked commit 1212", "is gone from file://", "`torchx lib update`")
	if b.text(LockFile) != gone {
		t.Error("a failed Sync changed the lock, want it unchanged")
	}
	must(t, os.RemoveAll(r.dir))
	_, err = b.Sync(context.Background())
	wantError(t, err, "library @acme: fetch file://", "does not appear to be a git repository")
}

func TestAllFailuresAreReported(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write(t, b.Root, map[string]string{ProjectFile: "lib a file:///nowhere/a v1\nlib b ./nowhere\nlib c ./ok\n", "ok/x.star": ""})
	_, err := b.Sync(context.Background())
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "@a") || !strings.Contains(err.Error(), "@b") {
		t.Errorf("got error %v, want a line each for a and b", err)
	}
	if b.text(LockFile) != "" {
		t.Error("a failed Sync wrote a lock, want none")
	}
}

func TestOffline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Git.Offline = true
	b.Git.Program = "/nowhere/git" // git must not be started
	_, err := b.Add(context.Background(), Library{Name: "acme", URL: "https://example.invalid/r", Revision: "v1"})
	wantError(t, err, "library @acme: it is not in the cache, and --offline forbids fetching it from https://example.invalid/r")
	_, err = b.Add(context.Background(), Library{Name: "acme", URL: "ssh://example.invalid/r"})
	wantError(t, err, "--offline forbids")
	if len(b.messages) > 0 {
		t.Errorf("got messages %q, want none", b.messages)
	}
	b.Git.Program = ""
	r := newRepo(t, map[string]string{"x.star": "x"})
	b.add(Library{Name: "near", URL: r.url(), Revision: "main"})
	if changes, err := b.Sync(context.Background()); err != nil || len(changes) > 0 {
		t.Errorf("Sync: got %v, %v, want no changes", changes, err)
	}
	// A rewritten URL does not reach the network either.
	home := t.TempDir()
	write(t, home, map[string]string{".gitconfig": "[url \"https://example.invalid/\"]\n\tinsteadOf = file:///far/\n"})
	b.Git = &git.Client{Env: gitEnv(home), Offline: true}
	_, err = b.Add(context.Background(), Library{Name: "far", URL: "file:///far/r", Revision: "v1"})
	wantError(t, err, "transport 'https' not allowed")
}

func TestWithoutGit(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.Git.Program = "no-such-program"
	_, err := b.Add(context.Background(), Library{Name: "acme", URL: "https://example.invalid/r", Revision: "v1"})
	wantError(t, err, "git is not found: install it")
}

// TestConcurrentChanges: no change is lost if several processes add and sync.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x", "a/y.star": "y"})
	b := newBench(t)
	names := []string{"a", "b", "c", "d"}
	var wg sync.WaitGroup
	for _, name := range names {
		other := *b.Manager
		other.Report = nil
		wg.Go(func() {
			if _, err := other.Add(context.Background(), Library{Name: name, URL: r.url(), Revision: "main"}); err != nil {
				t.Error(err)
			}
			if _, err := other.Sync(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, name := range names {
		b.reads(name, "a/y.star", "y")
	}
	if _, err := b.Verify(context.Background()); err != nil {
		t.Error(err)
	}
}

// TestInterrupted: an interrupted fetch leaves a valid state.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	b.Report = func(string) { cancel(errors.New("Ctrl-C")) }
	_, err := b.Add(ctx, Library{Name: "acme", URL: r.url(), Revision: "main"})
	wantError(t, err, "Ctrl-C")
	if b.text(ProjectFile)+b.text(LockFile) != "" {
		t.Error("an interrupted Add changed files, want them unchanged")
	}
	if left, _ := os.ReadDir(filepath.Join(b.Cache.Dir, "tmp")); len(left) > 0 {
		t.Errorf("got %v left in the cache, want nothing", left)
	}
	// Leftovers of a killed process are harmless.
	write(t, b.Cache.Dir, map[string]string{"tmp/file-1": "half", "tmp/fetch-1/HEAD": ""})
	b.Report = nil
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	b.reads("acme", "x.star", "x")
}

func TestMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	write(t, b.Root, map[string]string{
		"one/x.star": "load(\"@base//x.star\", \"x\")\n", "one/y.star": "\nload(\"@util//x.star\", \"x\")\nload(\"@two//x.star\", \"x\")",
		"two/x.star": "load(\"@more//x.star\", \"x\")\nload(\"@two//y.star\", \"x\")",
	})
	b.add(Library{Name: "one", Folder: "./one"})
	b.add(Library{Name: "two", Folder: "./two"})
	want := "torchx.libs lacks libraries that others load: @base for @one//x.star:1, @more for @two//x.star:1, @util for @one//y.star:2 ("
	wantError(t, b.Missing(context.Background()), want)
	_, err := b.Verify(context.Background())
	wantError(t, err, want)
}

// TestCacheIsRepaired, whatever blocks the path of a content or a folder.
func TestCacheIsRepaired(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1"})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	entry := b.Cache.path(SumOf([]byte("1")))
	for what, damage := range map[string]func(){
		"an empty folder": func() { must(t, os.RemoveAll(entry)); must(t, os.Mkdir(entry, 0o700)) },
		"a folder":        func() { must(t, os.RemoveAll(entry)); write(t, entry, map[string]string{"f": ""}) },
		"another content": func() { must(t, os.WriteFile(entry, []byte("2"), 0o600)) },
		"a file for folders": func() {
			must(t, os.RemoveAll(filepath.Dir(entry)))
			must(t, os.WriteFile(filepath.Dir(entry), nil, 0o600))
		},
		"a broken link": func() { must(t, os.Remove(entry)); must(t, os.Symlink("nowhere", entry)) },
		"no scratch folder": func() {
			must(t, os.Remove(entry))
			must(t, os.RemoveAll(filepath.Join(b.Cache.Dir, "tmp")))
			must(t, os.WriteFile(filepath.Join(b.Cache.Dir, "tmp"), nil, 0o600))
		},
	} {
		damage()
		if _, err := b.read("acme", "x.star"); err == nil || !strings.Contains(err.Error(), "run `torchx lib sync`") {
			t.Errorf("%s: got %v, want the remedy", what, err)
		}
		if _, err := b.Sync(context.Background()); err != nil {
			t.Errorf("%s: Sync: got %v, want nil", what, err)
		}
		b.reads("acme", "x.star", "1")
	}
}
