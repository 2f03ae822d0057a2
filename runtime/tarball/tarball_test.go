package tarball

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// archive returns a tar archive of entries; those with a body are files.
func archive(t *testing.T, entries ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		body := ""
		if h.Typeflag == tar.TypeReg {
			body = "from " + h.Name
			h.Size = int64(len(body))
		}
		if h.Mode == 0 {
			h.Mode = 0o755
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, body); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// list returns the entries below a folder, with the targets of links and the contents of files.
func list(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.IsDir():
			name += "/"
		case d.Type()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			name += " -> " + target
		default:
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name += " = " + string(data)
		}
		found = append(found, name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func unpack(t *testing.T, dir, as string, in io.Reader) (failed []string, err error) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := Unpacker{Root: root, As: as, Failed: func(name string, err error) { failed = append(failed, fmt.Sprint(name, ": ", err)) }}
	err = u.Unpack(context.Background(), in)
	return failed, err
}

func file(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeReg} }

func link(name, target string) tar.Header {
	return tar.Header{Name: name, Linkname: target, Typeflag: tar.TypeSymlink}
}

// TestHostile: no entry of an archive creates or changes anything outside of the target.
func TestHostile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		entries []tar.Header
		want    []string // in the target
		failed  int
	}{
		"parent":              {[]tar.Header{file("../outside"), file("a/../../outside"), file("ok")}, []string{"ok = from ok"}, 2},
		"absolute":            {[]tar.Header{file("/outside/../../outside"), file("/in")}, []string{"in = from /in"}, 1},
		"link to outside":     {[]tar.Header{link("l", "../secret"), link("m", "/etc"), link("d/n", "../../secret")}, []string{"d/"}, 3},
		"through a link":      {[]tar.Header{link("l", ".."), file("l/outside")}, []string{"l/", "l/outside = from l/outside"}, 1},
		"through a chain":     {[]tar.Header{{Name: "a/", Typeflag: tar.TypeDir}, link("a/b", "."), link("a/b/c", ".."), file("a/c/in"), link("x", "a/../.."), file("x/outside")}, nil, -1},
		"hard link":           {[]tar.Header{{Name: "h", Linkname: "../secret", Typeflag: tar.TypeLink}, {Name: "h", Linkname: "/../secret", Typeflag: tar.TypeLink}}, nil, 2},
		"device":              {[]tar.Header{{Name: "null", Typeflag: tar.TypeChar}, {Name: "pipe", Typeflag: tar.TypeFifo}}, nil, 2},
		"a link in a link":    {[]tar.Header{{Name: "p/", Typeflag: tar.TypeDir}, link("p/q", ".."), link("p/q/x", "..")}, []string{"p/", "p/q -> .."}, 1},
		"up through a link":   {[]tar.Header{{Name: "p/", Typeflag: tar.TypeDir}, link("y", "p/q/.."), link("p/q", "..")}, []string{"p/", "p/q -> ..", "y -> p"}, 0},
		"a moved link":        {[]tar.Header{{Name: "p/q/", Typeflag: tar.TypeDir}, link("p/q/l", "../.."), {Name: "h", Linkname: "p/q/l", Typeflag: tar.TypeLink}}, []string{"p/", "p/q/", "p/q/l -> ../.."}, 1},
		"dangling hard link":  {[]tar.Header{{Name: "h", Linkname: "none", Typeflag: tar.TypeLink}}, nil, 1},
		"block and socket":    {[]tar.Header{{Name: "sda", Typeflag: tar.TypeBlock}, {Name: "x", Typeflag: tar.TypeCont}}, nil, 2},
		"twice":               {[]tar.Header{file("a"), file("a"), file("./a"), file("//a")}, []string{"a = from //a"}, 0},
		"odd names":           {[]tar.Header{file("a\nb"), file("\x1b[2J"), file("-rf"), file("--checkpoint-action=exec=sh"), file(" ")}, []string{"\x1b[2J = from \x1b[2J", "  = from  ", "--checkpoint-action=exec=sh = from --checkpoint-action=exec=sh", "-rf = from -rf", "a\nb = from a\nb"}, 0},
		"too deep":            {[]tar.Header{file(strings.Repeat("d/", 5000) + "f")}, nil, 1},
		"setuid":              {[]tar.Header{{Name: "s", Typeflag: tar.TypeReg, Mode: 0o6755}}, []string{"s = from s"}, 0},
		"a link for a file":   {[]tar.Header{file("a"), link("b", "a"), file("b")}, []string{"a = from a", "b = from b"}, 0},
		"a folder for a file": {[]tar.Header{{Name: "a/", Typeflag: tar.TypeDir}, file("a")}, []string{"a/"}, 1},
		"inside":              {[]tar.Header{file("d/a"), link("d/l", "a"), link("k", "d/../d/a"), {Name: "h", Linkname: "d/a", Typeflag: tar.TypeLink}}, []string{"d/", "d/a = from d/a", "d/l -> a", "h = from d/a", "k -> d/a"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			above := t.TempDir()
			dir := filepath.Join(above, "target")
			if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(above, "secret"), []byte("s"), 0o600)); err != nil {
				t.Fatal(err)
			}
			failed, err := unpack(t, dir, "", archive(t, tt.entries...))
			if err != nil {
				t.Fatal(err)
			}
			if tt.failed >= 0 && (len(failed) != tt.failed || !slices.Equal(list(t, dir), tt.want)) {
				t.Errorf("got %q, failed %q, want %q and %d failures", list(t, dir), failed, tt.want, tt.failed)
			}
			entries, err := os.ReadDir(above)
			if err != nil || len(entries) != 2 {
				t.Errorf("beside the target: got %v, %v, want only the secret", entries, err)
			}
			if data, err := os.ReadFile(filepath.Join(above, "secret")); string(data) != "s" {
				t.Errorf("the file outside became %q, %v", data, err)
			}
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for as, want := range map[string][]string{
		"":    {"d/", "d/a = from d/a", "d/e/", "d/e/b = from d/e/b"},
		".":   {"a = from d/a", "e/", "e/b = from d/e/b"},
		"new": {"new/", "new/a = from d/a", "new/e/", "new/e/b = from d/e/b"},
	} {
		dir := t.TempDir()
		failed, err := unpack(t, dir, as, archive(t, tar.Header{Name: "./d/", Typeflag: tar.TypeDir}, file("d/a"), file("d/e/b")))
		if err != nil || len(failed) > 0 || !slices.Equal(list(t, dir), want) {
			t.Errorf("as %q: got %q, %q, %v, want %q", as, list(t, dir), failed, err, want)
		}
	}
}

// TestRoundTrip: what Pack writes, Unpack extracts, with the same permissions whatever the umask is,
// as docker cp and tar -p do; what cannot be packed is an error at the end.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	if err := errors.Join(
		os.MkdirAll(filepath.Join(from, "d", "empty"), 0o755),
		os.WriteFile(filepath.Join(from, "d", "a"), []byte("text"), 0o640),
		os.Chmod(filepath.Join(from, "d", "a"), 0o640),
		os.Symlink("a", filepath.Join(from, "d", "l")),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(from)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var b bytes.Buffer
	if err := Pack(t.Context(), &b, root, "d", "x"); err != nil {
		t.Fatal(err)
	}
	failed, err := unpack(t, to, "", &b)
	want := []string{"x/", "x/a = text", "x/empty/", "x/l -> a"}
	if err != nil || len(failed) > 0 || !slices.Equal(list(t, to), want) {
		t.Errorf("got %q, %q, %v, want %q", list(t, to), failed, err, want)
	}
	if info, err := os.Stat(filepath.Join(to, "x", "a")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("got %v, %v, want mode 0640", info, err)
	}
	if err := Pack(t.Context(), io.Discard, root, "none", "x"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a missing file: got %v, want fs.ErrNotExist", err)
	}
}

// TestTargetKeepsPermissions: neither the contents of a folder nor an archive change the permissions
// of folders that exist.
func TestTargetKeepsPermissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(dir, 0o750), os.Mkdir(filepath.Join(dir, "old"), 0o700)); err != nil {
		t.Fatal(err)
	}
	folder := func(name string) tar.Header { return tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o777} }
	failed, err := unpack(t, dir, ".", archive(t, folder("x/"), folder("x/old/"), folder("x/new/")))
	if err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	for name, want := range map[string]fs.FileMode{".": 0o750, "old": 0o700, "new": 0o777} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want mode %o", name, info.Mode(), err, want)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var b bytes.Buffer
	if err := Pack(t.Context(), &b, root, ".", "."); err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(&b); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || filepath.Clean(h.Name) == "." {
			t.Fatalf("got %+v, %v, want no entry of the folder itself", h, err)
		}
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	whole := archive(t, file("a")).Bytes()
	for _, text := range []string{"no archive at all " + strings.Repeat("x", 600), string(whole[:515])} {
		if _, err := unpack(t, t.TempDir(), "", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%.20q: got %v, want that it is damaged", text, err)
		}
	}
}

// TestAs: an archive creates nothing beside the file or folder that the user asked for.
func TestAs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	failed, err := unpack(t, dir, "x", archive(t, file(".git/config"), file("x/.."), file("train.py/a"), link("x", ".git"), link("x/up", "../.git"), link("x/ok", "a")))
	want := []string{".git/", "x/", "x/a = from train.py/a", "x/config = from .git/config", "x/ok -> a"}
	if err != nil || len(failed) != 3 || !slices.Equal(list(t, dir), want) {
		t.Errorf("got %q, failed %q, %v, want %q and 3 failures", list(t, dir), failed, err, want)
	}
}

// sparse returns the archive of a PAX sparse file without data.
func sparse(t *testing.T, size string) *bytes.Buffer {
	t.Helper()
	records := ""
	for _, r := range []string{"GNU.sparse.major=0", "GNU.sparse.minor=1", "GNU.sparse.name=big", "GNU.sparse.size=" + size, "GNU.sparse.numblocks=0", "GNU.sparse.map="} {
		n := len(r) + 3
		n += len(fmt.Sprint(n + 1))
		records += fmt.Sprintf("%d %s\n", n-1, r)
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "big", Size: int64(len(records)), Typeflag: tar.TypeReg, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, records); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&tar.Header{Name: "big", Typeflag: tar.TypeReg, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	text[156] = 'x'
	sum := int64(0)
	copy(text[148:156], "        ")
	for _, c := range text[:512] {
		sum += int64(c)
	}
	copy(text[148:156], fmt.Sprintf("%06o\x00 ", sum))
	return &b
}

// TestSparse: holes stay holes, a file that is absurdly large is refused, and a hole ends with its
// context.
func TestSparse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	failed, err := unpack(t, dir, "", sparse(t, "1073741824"))
	if err != nil || len(failed) > 0 {
		t.Fatal(failed, err)
	}
	info, err := os.Stat(filepath.Join(dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	if used := blocks(info); info.Size() != 1<<30 || used > 1<<20 {
		t.Errorf("got %d bytes that use %d, want a hole of 1 GiB", info.Size(), used)
	}
	failed, err = unpack(t, t.TempDir(), "", sparse(t, "9223372036854775807"))
	if err != nil || len(failed) != 1 || !strings.Contains(failed[0], "too large") {
		t.Errorf("8 EiB: got %q, %v, want that it is too large", failed, err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := Unpacker{Root: root, Failed: func(name string, err error) { t.Error(name, err) }}
	if err := u.Unpack(ctx, sparse(t, "1099511627776")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("1 TiB with a time limit: got %v, want that the time is over", err)
	}
}

// TestManyEntries: neither entries nor their extended headers stay in memory.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	go func() {
		out := tar.NewWriter(w)
		for i := range 100_000 {
			h := tar.Header{Name: fmt.Sprintf("../%d", i), Typeflag: tar.TypeReg}
			if i%1000 == 0 {
				h = tar.Header{Name: fmt.Sprintf("d%d/", i), Typeflag: tar.TypeDir, Mode: 0o755, PAXRecords: map[string]string{"TEST.comment": strings.Repeat("x", 1<<19)}}
			}
			if err := out.WriteHeader(&h); err != nil {
				t.Error(err)
				break
			}
		}
		_ = w.CloseWithError(out.Close())
	}()
	failures := 0
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	u := Unpacker{Root: root, Failed: func(string, error) { failures++ }}
	if err := u.Unpack(t.Context(), r); err != nil || failures != 99_900 {
		t.Errorf("got %d failures, %v, want 99900", failures, err)
	}
}
