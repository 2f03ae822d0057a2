package outputs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	must(t, Walk(dir, func(e Entry) error {
		all = append(all, e.Name)
		return nil
	}))
	return all
}

// shuffled is a folder with names in any order.
type shuffled struct {
	names []string
	at    int
}

func (s *shuffled) Seek(int64, int) (int64, error) {
	s.at = 0
	return 0, nil
}

func (s *shuffled) Readdirnames(n int) ([]string, error) {
	if s.at == len(s.names) {
		return nil, io.EOF
	}
	from := s.at
	s.at = min(s.at+n, len(s.names))
	return s.names[from:s.at], nil
}

// TestInOrder: a folder with more names than are held at once is listed completely, in order.
func TestInOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ count, limit int }{{0, 3}, {1, 1}, {3, 3}, {4, 3}, {100, 1}, {9999, 100}, {5000, 5000}} {
		s := &shuffled{}
		for i := range test.count {
			s.names = append(s.names, fmt.Sprintf("%06d", i))
		}
		want := slices.Clone(s.names)
		rand.Shuffle(test.count, func(i, j int) { s.names[i], s.names[j] = s.names[j], s.names[i] })
		var got []string
		must(t, inOrder(s, test.limit, func(name string) error {
			got = append(got, name)
			return nil
		}))
		if !slices.Equal(got, want) {
			t.Errorf("%d names, %d at once: got %d, want all in order", test.count, test.limit, len(got))
		}
	}
}

func TestWalk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "b/2", "xx")
	write(t, dir, "b/1/z", "x")
	write(t, dir, "a", "x")
	must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o700), os.Symlink("/etc", filepath.Join(dir, "link")))
	if got, want := names(t, dir), []string{"a", "b", "b/1", "b/1/z", "b/2", "empty", "link"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !HasFiles(dir) || HasFiles(filepath.Join(dir, "empty")) || HasFiles(filepath.Join(dir, "none")) {
		t.Error("HasFiles: want true for the folder, false for an empty and a missing one")
	}
	if err := Walk(filepath.Join(dir, "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: got %v, want that it does not exist", err)
	}
}

// TestWalkWhileFilesVanish: what a program deletes meanwhile is left out.
func TestWalkWhileFilesVanish(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 10 {
		write(t, dir, fmt.Sprintf("%d/f", i), "x")
	}
	var got []string
	must(t, Walk(dir, func(e Entry) error {
		got = append(got, e.Name)
		return errors.Join(os.RemoveAll(filepath.Join(dir, "5")), os.RemoveAll(filepath.Join(dir, "7", "f")))
	}))
	if text := strings.Join(got, " "); strings.Contains(text, "5") || !strings.HasSuffix(text, "7 8 8/f 9 9/f") {
		t.Errorf("got %s, want it without 5 and 7/f", text)
	}
}

// TestCopyKeepsHolesAndRights: the user's umask applies to what is copied, as with cp(1): it is the
// user's own copy, and a job that writes public files must not make the user's files public.
func TestCopyKeepsHolesAndRights(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	f, err := os.OpenFile(filepath.Join(from, "sparse"), os.O_CREATE|os.O_WRONLY, 0o750)
	must(t, err)
	for _, at := range []int64{0, 3 << 20, 40 << 20} {
		_, err = f.WriteAt([]byte(strings.Repeat("data", 1000)), at)
		must(t, err)
	}
	must(t, f.Truncate(1<<30), f.Close(), os.Chmod(f.Name(), 0o750))
	plain := filepath.Join(t.TempDir(), "plain")
	must(t, os.WriteFile(plain, nil, 0o750))
	made, err := os.Stat(plain)
	must(t, err)
	want := made.Mode().Perm() // 0750 without the umask
	var copied int64
	c := Copier{Failed: fails(t), Copied: func(n int64) { copied += n }}
	must(t, c.Copy(t.Context(), from, []string{"sparse"}, to))
	info, err := os.Stat(filepath.Join(to, "sparse"))
	must(t, err)
	if info.Size() != 1<<30 || info.Mode().Perm() != want {
		t.Errorf("got %d bytes, mode %v, want %d, %v", info.Size(), info.Mode().Perm(), 1<<30, want)
	}
	if copied > 1<<20 && copied != 1<<30 { // a file system without holes copies all
		t.Errorf("got %d bytes copied, want those of the data", copied)
	}
	got, err := os.Open(filepath.Join(to, "sparse"))
	must(t, err)
	defer got.Close()
	part := make([]byte, 8)
	if _, err := got.ReadAt(part, 40<<20); err != nil || string(part) != "datadata" {
		t.Errorf("got %q, %v, want datadata", part, err)
	}
}

func fails(t *testing.T) func(string, error) {
	return func(name string, err error) { t.Errorf("copy %s: got %v, want no error", name, err) }
}

// TestCanceledCopy: no file is left that looks complete, and no part of one.
func TestCanceledCopy(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	write(t, from, "a", strings.Repeat("x", partSize+1))
	write(t, from, "b", "x")
	ctx, cancel := context.WithCancel(t.Context())
	c := Copier{Failed: fails(t), Copied: func(int64) { cancel() }}
	if err := c.Copy(ctx, from, []string{"."}, to); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want canceled", err)
	}
	if got := names(t, to); len(got) > 0 {
		t.Errorf("got %q in the target, want nothing", got)
	}
}

// TestCopyChecksFirst: a name that cannot be copied, or a file in the way, and nothing is.
func TestCopyChecksFirst(t *testing.T) {
	t.Parallel()
	from, parent := t.TempDir(), t.TempDir()
	write(t, from, "a", "new")
	write(t, from, "d/a", "new")
	write(t, from, "d/f", "new")
	must(t, os.Symlink("d", filepath.Join(from, "l")), os.Symlink("/etc/hostname", filepath.Join(from, "out")))
	for i, test := range []struct {
		names []string
		there string // "": none; with a slash at the end: a folder
		force bool
		want  string // error; "": none
		files string // in the target
	}{
		{[]string{"a"}, "", false, "", "a"},
		{[]string{"d"}, "", false, "", "d d/a d/f"},
		{[]string{"l"}, "", false, "", "l l/a l/f"},
		{[]string{"a", "./a"}, "", false, "", "a"},
		{[]string{"d/a", "a"}, "", false, "have the same name", ""},
		{[]string{"d/f", "a"}, "a", false, "a already exists", "a"},
		{[]string{"d/f", "a"}, "a", true, "", "a f"},
		{[]string{"a"}, "a/", true, "a is a folder", "a"},
		{[]string{"d"}, "d", true, "d is not a folder", "d"},
		{[]string{"d"}, "d/", false, "", "d d/a d/f"},
		{[]string{"a", "none"}, "", false, `no file "none"`, ""},
		{[]string{"a", ""}, "", false, "outside", ""},
		{[]string{"a", ".."}, "", false, "outside", ""},
		{[]string{"a", "d/../../a"}, "", false, "outside", ""},
		{[]string{"out"}, "", false, "a link to a place outside", ""},
		{[]string{"out/x"}, "", false, "outside", ""},
	} {
		to := filepath.Join(parent, fmt.Sprint(i))
		must(t, os.Mkdir(to, 0o700))
		switch {
		case strings.HasSuffix(test.there, "/"):
			must(t, os.Mkdir(filepath.Join(to, test.there), 0o700))
		case test.there != "":
			write(t, to, test.there, "old")
		}
		c := Copier{Replace: test.force, Failed: fails(t)}
		err := c.Copy(t.Context(), from, test.names, to)
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%q: got %v, want %q", test.names, err, test.want)
		}
		if got := strings.Join(names(t, to), " "); got != test.files {
			t.Errorf("%q: got files %q, want %q", test.names, got, test.files)
		}
	}
}

// TestCopyIntoLinks: a link in the target leads no file out of it.
func TestCopyIntoLinks(t *testing.T) {
	t.Parallel()
	from, to, outside := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, from, "d/f", "new")
	must(t, os.Symlink(outside, filepath.Join(to, "d")))
	c := Copier{Replace: true, Failed: fails(t)}
	if err := c.Copy(t.Context(), from, []string{"d"}, to); err == nil {
		t.Error("got no error, want that d is not a folder")
	}
	if got := names(t, outside); len(got) > 0 {
		t.Errorf("got %q outside of the target, want nothing", got)
	}
}
