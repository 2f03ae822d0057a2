package library

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestAddLocksAndReads(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{
		"x.star": "x = 1\n", "sub/y.star": "y = 2\n", "LICENSE": "free", "bin": "\x00\xff",
		// Attributes must not change the files.
		".gitattributes": "*.star text eol=crlf\nsub/** export-ignore\n*.star filter=evil ident\n", ".gitignore": "*",
	})
	r.git("config", "filter.evil.smudge", "echo evil")
	r.git("tag", "v1.0.0")
	b := newBench(t)
	c := b.add(Library{Name: "acme", URL: r.url(), Revision: "v1.0.0"})
	if c.New.Commit != r.git("rev-parse", "HEAD") || len(c.New.Files) != 6 {
		t.Errorf("got lock %+v, want 6 files at HEAD", c.New)
	}
	b.reads("acme", "x.star", "x = 1\n")
	b.reads("acme", "sub/y.star", "y = 2\n")
	b.reads("acme", "bin", "\x00\xff")
	if _, err := b.read("acme", "nope.star"); err == nil {
		t.Error("a missing file: got nil, want an error")
	}
	if want := "lib acme " + r.url() + " v1.0.0\n"; !strings.Contains(b.text(ProjectFile), want) {
		t.Errorf("got project %q, want %q", b.text(ProjectFile), want)
	}
	if want := SumOf([]byte("x = 1\n")).String() + "  x.star\n"; !strings.Contains(b.text(LockFile), want) {
		t.Errorf("got lock %q, want %q", b.text(LockFile), want)
	}
	if left, _ := os.ReadDir(filepath.Join(b.Cache.Dir, "tmp")); len(left) > 0 {
		t.Errorf("got %v left in the cache, want nothing", left)
	}
	_, err := b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: "main"})
	wantError(t, err, "torchx.libs:2 already lists acme: `torchx lib update acme@REVISION`")
}

// TestRevisions: tags (the newest release by default), branches, full and short commit IDs,
// even of commits without a branch or tag.
func TestRevisions(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1"})
	one := r.git("rev-parse", "HEAD")
	r.git("tag", "v1.9.0")
	r.git("branch", "release/1")
	two := r.commit(map[string]string{"x.star": "2"})
	r.git("tag", "-a", "-m", "annotated", "v1.10.0")
	lost := r.commit(map[string]string{"x.star": "lost"})
	r.git("reset", "-q", "--hard", two)
	r.commit(map[string]string{"x.star": "3"})
	r.git("tag", "v2.0.0-rc.1")
	for revision, want := range map[string]string{
		"": "2", "v1.9.0": "1", "release/1": "1", "main": "3", "HEAD": "3", "refs/tags/v1.10.0": "2",
		one: "1", one[:8]: "1", two: "2", lost: "lost",
	} {
		b := newBench(t)
		c := b.add(Library{Name: "acme", URL: r.url(), Revision: revision})
		b.reads("acme", "x.star", want)
		if revision == "" && c.New.Revision != "v1.10.0" {
			t.Errorf("got newest release %s, want v1.10.0", c.New.Revision)
		}
	}
	b := newBench(t)
	_, err := b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: "v1.9"})
	wantError(t, err, "library @acme: ", "it has no branch, tag or commit v1.9. Did you mean v1.9.0?")
	_, err = b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: strings.Repeat("0", 40)})
	wantError(t, err, "it has no branch, tag or commit 000")
	_, err = b.Add(context.Background(), Library{Name: "acme", URL: "file:///nowhere/at/all", Revision: "v1"})
	wantError(t, err, "library @acme: fetch file:///nowhere/at/all: ", "nowhere")
	if b.text(ProjectFile)+b.text(LockFile) != "" {
		t.Error("a failed Add changed files, want them unchanged")
	}
}

func TestFolderOfARepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"lib/torchx/x.star": "load('//y.star', 'y')", "lib/torchx/y.star": "y", "top.star": "", "file": ""})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main", Path: "lib/torchx"})
	b.reads("acme", "y.star", "y")
	if n := len(b.lock().Find("acme").Files); n != 2 {
		t.Errorf("got %d locked files, want 2", n)
	}
	for _, path := range []string{"nope", "file"} {
		_, err := b.Add(context.Background(), Library{Name: "other", URL: r.url(), Revision: "main", Path: path})
		wantError(t, err, "library @other: ", "has no folder "+path+" at main")
	}
}

func (b *bench) lock() *Lock {
	b.t.Helper()
	l, err := ParseLock(LockFile, []byte(b.text(LockFile)))
	must(b.t, err)
	return l
}

func TestRefusedContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		make func(t *testing.T, r *repo)
		want string
	}{
		"link": {func(t *testing.T, r *repo) {
			must(t, os.Symlink("/etc/passwd", filepath.Join(r.dir, "x.star")))
		}, "x.star is a symbolic link, which a library may not contain"},
		"link to a folder": {func(t *testing.T, r *repo) {
			must(t, os.Symlink("..", filepath.Join(r.dir, "docs")))
		}, "docs is a symbolic link"},
		"huge Starlark file": {func(t *testing.T, r *repo) {
			write(t, r.dir, map[string]string{"x.star": strings.Repeat("#\n", MaxStarlarkFile)})
		}, "x.star is 2.0 MiB large, and a Starlark file may have at most 1.0 MiB"},
		"huge file": {func(t *testing.T, r *repo) {
			write(t, r.dir, map[string]string{"data": strings.Repeat("x", MaxFile+1)})
		}, "data is 16.0 MiB large"},
		"control character": {func(t *testing.T, r *repo) {
			write(t, r.dir, map[string]string{"a\nb.star": ""})
		}, `the name "a\nb.star" has control characters`},
		"backslash": {func(t *testing.T, r *repo) {
			write(t, r.dir, map[string]string{`a\b.star`: ""})
		}, `leads out of the library`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t, map[string]string{"ok.star": ""})
			c.make(t, r)
			r.commit(nil)
			b := newBench(t)
			_, err := b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: "main"})
			wantError(t, err, "library @acme: ", c.want)
			if b.text(ProjectFile)+b.text(LockFile) != "" {
				t.Error("a failed Add changed files, want them unchanged")
			}
			_, err = b.Add(context.Background(), Library{Name: "acme", Folder: r.dir})
			wantError(t, err, "library @acme: ", c.want)
		})
	}
}

// TestPathsOutOfTheTree: a hand-made tree can contain names that git itself would never check
// out.
func TestPathsOutOfTheTree(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	blob := r.git("rev-parse", "HEAD:x.star")
	inner := r.mktree("100644 blob " + blob + "\tx.star\n")
	for _, name := range []string{"..", ".", ".git", ".GIT", "git~1", ".git. .", ".git::$INDEX_ALLOCATION", ".g\u200cit", "-rf"} {
		tree := r.mktree("040000 tree " + inner + "\t" + name + "\n")
		r.git("tag", "evil", r.git("commit-tree", "-m", "m", tree))
		b := newBench(t)
		_, err := b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: "evil"})
		wantError(t, err, "library @acme: the path \"", name[len(name)-1:]+"\"")
		r.git("tag", "-d", "evil")
	}
}

// TestConflictingEntries: a tree with two entries that cannot exist in one folder.
func TestConflictingEntries(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	file := "100644 blob " + r.git("rev-parse", "HEAD:x.star") + "\t"
	folder := "040000 tree " + r.mktree(file+"x.star\n") + "\t"
	b := newBench(t)
	for lines, want := range map[string]string{
		file + "a.star\n" + file + "a.star\n":            `the path "a.star" occurs twice`,
		folder + "a\n" + folder + "a\n":                  `the path "a" occurs twice`,
		file + "a\n" + folder + "a\n":                    `the path "a" occurs twice`,
		file + "A.star\n" + file + "a.star\n":            `"A.star" and "a.star" are the same file on case-insensitive file systems`,
		file + "LIB\n" + folder + "lib\n":                `"LIB" and "lib" are the same file`,
		file + "\u00e9.star\n" + file + "e\u0301.star\n": "are the same file",
		folder + "A\n" + folder + "a\n":                  `"A/x.star" and "a/x.star" are the same file`,
	} {
		r.git("update-ref", "refs/heads/evil", r.git("commit-tree", "-m", "m", r.mktree(lines)))
		_, err := b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: "evil"})
		wantError(t, err, "library @acme: ", want)
		if b.text(ProjectFile)+b.text(LockFile) != "" {
			t.Fatalf("%q: a failed Add changed files, want them unchanged", lines)
		}
	}
}

// TestTreeBombs: a few trees that contain one another many times exceed the limits.
func TestTreeBombs(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	blob := r.git("rev-parse", "HEAD:x.star")
	nest := func(line, entries string, levels, times int) string {
		tree := r.mktree(entries)
		for range levels {
			var lines strings.Builder
			for i := range times {
				fmt.Fprintf(&lines, line, tree, i)
			}
			tree = r.mktree(lines.String())
		}
		return tree
	}
	long := strings.Repeat("long-name", 27)
	b := newBench(t)
	for want, tree := range map[string]string{
		"it has over 20000 files":   nest("040000 tree %s\td%d\n", "100644 blob "+blob+"\ta\n100644 blob "+blob+"\tb\n", 10, 10),
		"it has over 20000 folders": nest("040000 tree %s\td%d\n", "", 10, 10),
		"4096 bytes are allowed":    nest("040000 tree %s\t"+long+"%d\n", "100644 blob "+blob+"\tx.star\n", 40, 1),
	} {
		r.git("update-ref", "refs/heads/bomb", r.git("commit-tree", "-m", "m", tree))
		_, err := b.Add(context.Background(), Library{Name: "acme", URL: r.url(), Revision: "bomb"})
		wantError(t, err, "library @acme: ", want)
	}
}

// mktree creates a tree from the input lines of `git mktree`.
func (r *repo) mktree(lines string) string {
	r.t.Helper()
	write(r.t, r.t.TempDir(), nil)
	path := filepath.Join(r.t.TempDir(), "lines")
	must(r.t, os.WriteFile(path, []byte(lines), 0o600))
	return r.shell("git mktree --missing <\"" + path + "\"")
}

func TestSubmodulesAreSkipped(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "x"})
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",sub")
	r.git("commit", "-q", "-m", "m")
	b := newBench(t)
	if c := b.add(Library{Name: "acme", URL: r.url(), Revision: "main"}); len(c.New.Files) != 1 {
		t.Errorf("got locked files %v, want one", c.New.Files)
	}
	if !slices.Contains(b.messages, "library @acme: submodule sub is skipped") {
		t.Errorf("got messages %q, want one about the submodule", b.messages)
	}
}

// TestHooksAreNotRun: neither the user's nor the repository's hooks are run.
func TestHooksAreNotRun(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	mark := filepath.Join(home, "mark")
	hook := map[string]string{"hooks/reference-transaction": "#!/bin/sh\ntouch \"" + mark + "\"\n", "hooks/post-checkout": "#!/bin/sh\ntouch \"" + mark + "\"\n"}
	write(t, home, hook)
	write(t, filepath.Join(home, "template"), hook)
	for _, dir := range []string{"hooks", "template/hooks"} {
		for name := range hook {
			must(t, os.Chmod(filepath.Join(home, dir, filepath.Base(name)), 0o755))
		}
	}
	write(t, home, map[string]string{".gitconfig": "[core]\n\thooksPath = " + home + "/hooks\n[init]\n\ttemplateDir = " + home + "/template\n"})
	r := newRepo(t, map[string]string{"x.star": "x"})
	b := newBench(t)
	b.Git.Env = gitEnv(home)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	if _, err := os.Stat(mark); err == nil {
		t.Error("a hook was run, want none")
	}
}

func TestUpdate(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1", "gone.star": ""})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	must(t, os.Remove(filepath.Join(r.dir, "gone.star")))
	two := r.commit(map[string]string{"x.star": "2", "new.star": ""})
	r.git("tag", "v2")
	changes, err := b.Sync(context.Background())
	if err != nil || len(changes) != 0 {
		t.Errorf("Sync: got changes %+v, %v, want none", changes, err)
	}
	b.reads("acme", "x.star", "1")
	changes, err = b.Update(context.Background(), nil)
	must(t, err)
	if d := Compare(changes[0].Old, changes[0].New); d.String() != "x.star, gone.star (gone), new.star (new)" || changes[0].New.Commit != two {
		t.Errorf("got changes %+v: %v, want the new commit and its files", changes[0], d)
	}
	b.reads("acme", "x.star", "2")
	_, err = b.Update(context.Background(), []Wanted{{"acme", "v2"}})
	must(t, err)
	b.isUpToDate(r, "v2")
	if !strings.Contains(b.text(ProjectFile), r.url()+" v2\n") {
		t.Errorf("got project %q, want revision v2", b.text(ProjectFile))
	}
	_, err = b.Update(context.Background(), []Wanted{{"nope", ""}, {"nada", ""}, {"acme", ""}})
	wantError(t, err, "torchx.libs has no library nope and nada")
	_, err = b.Update(context.Background(), []Wanted{{"acme", "--exec=x"}})
	wantError(t, err, "starts with -")
}

// isUpToDate checks that Update does not fetch a revision that has not moved, even if it is an
// annotated tag or a commit, but fetches it if a file is missing.
func (b *bench) isUpToDate(r *repo, revision string) {
	b.t.Helper()
	r.git("tag", "-a", "-m", "m", "annotated", revision)
	commit := r.git("rev-parse", "HEAD")
	for _, revision := range []string{"annotated", commit, revision} {
		_, err := b.Update(context.Background(), []Wanted{{"acme", revision}})
		must(b.t, err)
		before := len(b.messages)
		changes, err := b.Update(context.Background(), nil)
		if err != nil || len(b.messages) != before || changes[0].New.Commit != commit {
			b.t.Errorf("%s: got messages %q, changes %+v, %v, want no fetch", revision, b.messages[before:], changes, err)
		}
	}
	must(b.t, os.RemoveAll(filepath.Join(b.Cache.Dir, "files")))
	_, err := b.Update(context.Background(), nil)
	must(b.t, err)
	b.reads("acme", "x.star", "2")
}

func TestRemove(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	_, err := b.Remove([]string{"acme"})
	wantError(t, err, "torchx.libs not found")
	write(t, b.Root, map[string]string{"lib/x.star": "x"})
	b.add(Library{Name: "acme", Folder: "./lib"})
	b.add(Library{Name: "other", Folder: "./lib"})
	must(t, b.Replace("acme", "./lib"))
	_, err = b.Remove([]string{"acme"})
	must(t, err)
	if text := b.text(ProjectFile) + b.text(LockFile); strings.Contains(text, "acme") || !strings.Contains(text, "library other") {
		t.Errorf("got %q, want it without acme", text)
	}
}
