package git

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "torchx/test/cleanenv"
)

// remote is a repository to fetch from.
type remote struct {
	*testing.T
	dir string
	env []string
}

// newRemote creates a repository with a branch main, or skips the test without git.
func newRemote(t *testing.T, options ...string) *remote {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if strings.Contains(","+os.Getenv("TORCHX_REQUIRE")+",", ",git,") {
			t.Fatal(err)
		}
		t.Skip("git is not installed; TORCHX_REQUIRE=git makes this a failure")
	}
	home := t.TempDir()
	r := &remote{T: t, dir: filepath.Join(home, "remote"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b.c",
	}}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r.git(append([]string{"init", "-q", "-b", "main"}, options...)...)
	return r
}

func (r *remote) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// commit writes files, commits everything and returns the commit.
func (r *remote) commit(files map[string]string) string {
	r.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			r.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			r.Fatal(err)
		}
	}
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "m")
	return r.git("rev-parse", "HEAD")
}

func (r *remote) url() string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(r.dir)}).String()
}
func (r *remote) client() *Client { return &Client{Env: r.env} }

// fetch fetches into a new folder and fails the test if that fails.
func (r *remote) fetch(revision, commit string) *Repository {
	r.Helper()
	got, err := r.client().Fetch(r.Context(), r.TempDir(), r.url(), revision, commit)
	if err != nil {
		r.Fatalf("fetch %q, commit %q: %v", revision, commit, err)
	}
	return got
}

// entries returns all entries of a folder of a fetched commit.
func (r *remote) entries(repository *Repository, folder string) (all []Entry) {
	r.Helper()
	err := repository.Entries(r.Context(), folder, func(e Entry) error {
		all = append(all, e)
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// files returns the contents of a folder of a fetched commit.
func (r *remote) files(repository *Repository, folder string) map[string]string {
	r.Helper()
	entries := slices.DeleteFunc(r.entries(repository, folder), func(e Entry) bool { return e.Kind != File })
	found := map[string]string{}
	err := repository.Read(r.Context(), entries, func(e Entry, data []byte) error {
		found[e.Name] = string(data)
		return nil
	})
	if err != nil {
		r.Fatal(err)
	}
	return found
}

func (r *remote) wantFiles(repository *Repository, folder string, want map[string]string) {
	r.Helper()
	if got := r.files(repository, folder); !maps.Equal(got, want) {
		r.Errorf("files of %q: got %q, want %q", folder, got, want)
	}
}

func TestListRefs(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	first := r.commit(map[string]string{"a": "1"})
	r.git("tag", "v1.0.0")
	r.git("tag", "-m", "with a message", "v1.1.0")
	r.git("branch", "dev")
	got, err := r.client().ListRefs(t.Context(), r.url())
	if err != nil {
		t.Fatal(err)
	}
	if got.Head != "main" || got.Refs["refs/heads/dev"] != first {
		t.Errorf("got head %q, refs %q, want main and dev at %s", got.Head, got.Refs, first)
	}
	if want := []string{"v1.0.0", "v1.1.0"}; !slices.Equal(got.Tags(), want) {
		t.Errorf("got tags %q, want %q", got.Tags(), want)
	}
	if want := []string{"dev", "main", "v1.0.0", "v1.1.0"}; !slices.Equal(got.Names(), want) {
		t.Errorf("got names %q, want %q", got.Names(), want)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	old := r.commit(map[string]string{"a": "1"})
	r.git("tag", "-m", "with a message", "v1")
	r.git("branch", "both")
	now := r.commit(map[string]string{"a": "2"})
	r.git("tag", "both")
	for revision, want := range map[string]string{
		"main": now, "HEAD": now, "v1": old, "refs/heads/both": old, "both": now, old: old, "nothing": "", old[:7]: "",
	} {
		got, err := r.client().Resolve(t.Context(), r.url(), revision)
		if err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", revision, got, err, want)
		}
	}
}

func TestFetch(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	old := r.commit(map[string]string{"a.star": "one", "sub/b.star": "x"})
	r.git("tag", "v1")
	now := r.commit(map[string]string{"a.star": "two"})
	one, two := map[string]string{"a.star": "one", "sub/b.star": "x"}, map[string]string{"a.star": "two", "sub/b.star": "x"}
	for _, c := range []struct {
		revision, commit, want string
		files                  map[string]string
	}{
		{"main", "", now, two},
		{"v1", "", old, one},
		{old, "", old, one},
		{old[:8], "", old, one},
		{"main", old, old, one}, // locked at an earlier commit
	} {
		got := r.fetch(c.revision, c.commit)
		if got.Commit != c.want {
			t.Errorf("%s, commit %q: got %s, want %s", c.revision, c.commit, got.Commit, c.want)
		}
		r.wantFiles(got, "", c.files)
		r.wantFiles(got, "sub", map[string]string{"b.star": "x"})
	}
}

func TestFetchUnknown(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	r.commit(map[string]string{"a": "1"})
	for _, c := range []struct{ revision, commit string }{
		{"v9", ""}, {"deadbeef", ""}, {"main", strings.Repeat("ab", 20)},
	} {
		_, err := r.client().Fetch(t.Context(), t.TempDir(), r.url(), c.revision, c.commit)
		var unknown *UnknownRevisionError
		if !errors.As(err, &unknown) {
			t.Errorf("%s, commit %q: got error %v, want an *UnknownRevisionError", c.revision, c.commit, err)
			continue
		}
		if c.commit == "" && !slices.Contains(unknown.Known, "main") {
			t.Errorf("%s: got known names %q, want main among them", c.revision, unknown.Known)
		}
	}
	if _, err := r.client().Fetch(t.Context(), t.TempDir(), "file:///no/such/repository", "main", ""); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("a missing repository: got error %v, want one line", err)
	}
}

// TestTooManyRefs: a short commit ID is not searched for in too many branches.
func TestTooManyRefs(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	commit := r.commit(map[string]string{"a": "1"})
	var refs strings.Builder
	refs.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for i := range maxRefs {
		fmt.Fprintf(&refs, "%s refs/heads/b%06d\n", commit, i)
	}
	if err := os.WriteFile(filepath.Join(r.dir, ".git", "packed-refs"), []byte(refs.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := r.client().Fetch(t.Context(), t.TempDir(), r.url(), commit[:8], "")
	if err == nil || !strings.Contains(err.Error(), "give the whole commit") {
		t.Errorf("got error %v, want the remedy", err)
	}
	if got := r.fetch("b000001", ""); got.Commit != commit {
		t.Errorf("a branch: got %s, want %s", got.Commit, commit)
	}
}

func TestFetchSHA256(t *testing.T) {
	t.Parallel()
	r := newRemote(t, "--object-format=sha256")
	commit := r.commit(map[string]string{"a": "1"})
	for _, revision := range []string{"main", commit, commit[:10]} {
		if got := r.fetch(revision, ""); got.Commit != commit {
			t.Errorf("%s: got %s, want %s", revision, got.Commit, commit)
		}
	}
}

// A repository's settings for its files and its hooks have no effect.
func TestFilesAsStored(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	files := map[string]string{
		".gitattributes": "* text eol=crlf\nsecret export-ignore\n*.id ident\n",
		"text":           "a\nb\n",
		"secret":         "kept",
		"x.id":           "$Id$\n",
		"-odd name\n":    "odd",
		"empty":          "",
	}
	r.commit(files)
	r.wantFiles(r.fetch("main", ""), "", files)
}

func TestKindsOfEntries(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	commit := r.commit(map[string]string{"a": "1", "sub/b": "1"})
	if err := os.Symlink("a", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	r.git("update-index", "--add", "--cacheinfo", "160000,"+commit+",module")
	r.git("add", "link")
	r.git("commit", "-q", "-m", "m")
	got := map[string]Kind{}
	for _, e := range r.entries(r.fetch("main", ""), "") {
		got[e.Name] = e.Kind
	}
	if want := map[string]Kind{"a": File, "link": Symlink, "module": Submodule, "sub": Folder, "sub/b": File}; !maps.Equal(got, want) {
		t.Errorf("got kinds %v, want %v", got, want)
	}
}

func TestNoFolder(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	r.commit(map[string]string{"a": "1"})
	fetched := r.fetch("main", "")
	for _, folder := range []string{"a", "b", "a/b"} {
		if err := fetched.Entries(t.Context(), folder, nil); !errors.Is(err, ErrNoFolder) {
			t.Errorf("%s: got error %v, want %v", folder, err, ErrNoFolder)
		}
	}
}

func TestReadStops(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	r.commit(map[string]string{"a": strings.Repeat("x", 1<<20), "b": strings.Repeat("y", 1<<20)})
	fetched := r.fetch("main", "")
	entries := r.entries(fetched, "")
	stop, calls := errors.New("enough"), 0
	err := fetched.Entries(t.Context(), "", func(Entry) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("entries: got error %v after %d calls, want %v after 1", err, calls, stop)
	}
	calls = 0
	err = fetched.Read(t.Context(), entries, func(Entry, []byte) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 {
		t.Errorf("got error %v after %d calls, want %v after 1", err, calls, stop)
	}
	if err := fetched.Read(t.Context(), nil, nil); err != nil {
		t.Errorf("reading nothing: got error %v, want none", err)
	}
	entries[0].Size++ // a commit that differs from its listing
	if err := fetched.Read(t.Context(), entries, func(Entry, []byte) error { return nil }); err == nil {
		t.Error("a wrong size: got no error, want one")
	}
}

// An offline client can fetch a repository of this machine, but not one that a rewritten URL
// refers to.
func TestOfflineFile(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	want := r.commit(map[string]string{"a": "1"})
	c := r.client()
	c.Offline = true
	if got, err := c.Fetch(t.Context(), t.TempDir(), r.url(), "main", ""); err != nil || got.Commit != want {
		t.Errorf("got %+v, %v, want commit %s", got, err, want)
	}
	config := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(config, []byte("[url \"https://127.0.0.1:1/\"]\n\tinsteadOf = "+r.url()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Env = append(slices.Clone(c.Env), "GIT_CONFIG_GLOBAL="+config)
	if _, err := c.ListRefs(t.Context(), r.url()); err == nil || !strings.Contains(err.Error(), "https") {
		t.Errorf("a rewritten URL: got error %v, want one about the transport https", err)
	}
}

func TestNoGit(t *testing.T) {
	t.Parallel()
	_, err := (&Client{Program: "no-such-git"}).ListRefs(t.Context(), "file:///x")
	if err == nil || !strings.Contains(err.Error(), "git is not found: install it") {
		t.Errorf("got error %v, want the advice to install git", err)
	}
}
