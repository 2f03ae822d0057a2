package workspace

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// write creates files in a folder, as NAME=TEXT. A name that ends in / is an empty folder.
func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, f := range files {
		name, text, _ := strings.Cut(f, "=")
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			path += "/"
		}
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if !strings.HasSuffix(name, "/") {
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents scans projects and returns the entries of the tar, one line each.
func contents(t *testing.T, projects ...Project) []string {
	t.Helper()
	tree, err := Scan(projects)
	must(t, err)
	var b bytes.Buffer
	_, err = tree.Write(t.Context(), "i", &b)
	must(t, err)
	var all []string
	for r := tar.NewReader(&b); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.ModTime.Unix() != 0 {
			t.Errorf("%s: got an owner or a time, want none: %+v", h.Name, h)
		}
		text, err := io.ReadAll(r)
		must(t, err)
		line := h.Name
		switch {
		case h.Typeflag == tar.TypeSymlink:
			line += " -> " + h.Linkname
		case h.Typeflag == tar.TypeReg && h.Name != Dockerfile:
			line += "=" + string(text)
		}
		all = append(all, line)
	}
}

func TestContents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.py=1", "pkg/b.py=2", "empty/", ".git/HEAD=ref")
	must(t, os.Symlink("pkg", filepath.Join(dir, "dirlink")))
	must(t, os.Symlink("/nowhere", filepath.Join(dir, "broken")))
	want := []string{".git/", ".git/HEAD=ref", Dockerfile, "a.py=1", "broken -> /nowhere", "dirlink -> pkg", "empty/", "pkg/", "pkg/b.py=2"}
	if got := contents(t, Project{Path: dir}); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestIgnore checks Docker's rules of .dockerignore. left are the files that are not ignored.
func TestIgnore(t *testing.T) {
	t.Parallel()
	files := []string{"a.log=", "b.py=", "d/a.log=", "d/e/a.log=", "d/keep.log=", "data/x=", "data/deep/y=", "Dockerfile.torchx=FROM x"}
	for _, test := range []struct{ ignore, left string }{
		{"", "a.log b.py d/a.log d/e/a.log d/keep.log data/deep/y data/x"},
		{"# all logs\n*.log\n", "b.py d/a.log d/e/a.log d/keep.log data/deep/y data/x"},
		{"**/*.log\n", "b.py data/deep/y data/x"},
		{"**/*.log\n!d/keep.log\n", "b.py d/keep.log data/deep/y data/x"},
		{"d\ndata\n!data/deep\n", "a.log b.py data/deep/y"},
		{"*\n!d/*.log\n", "d/a.log d/keep.log"},
		{"/data/deep/\n", "a.log b.py d/a.log d/e/a.log d/keep.log data/x"},
		{"*\n", ""},
		{"Dockerfile.torchx\n*.py\n", "a.log d/a.log d/e/a.log d/keep.log data/deep/y data/x"},
	} {
		dir := t.TempDir()
		write(t, dir, append([]string{ignoreFile + "=" + test.ignore}, files...)...)
		var left []string
		dockerfile := false
		for _, line := range contents(t, Project{Path: dir}) {
			name, _, _ := strings.Cut(line, "=")
			dockerfile = dockerfile || name == Dockerfile
			if !strings.HasSuffix(name, "/") && name != Dockerfile && name != ignoreFile {
				left = append(left, name)
			}
		}
		if got := strings.Join(left, " "); got != test.left || !dockerfile {
			t.Errorf("%q\n got %s (Dockerfile: %v)\nwant %s", test.ignore, got, dockerfile, test.left)
		}
	}
}

func TestSeveralProjects(t *testing.T) {
	t.Parallel()
	one, two, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "conf.yaml")
	write(t, one, "a=1", "same=one")
	write(t, two, "b=2", "same=two", "x.log=", ignoreFile+"=*.log")
	must(t, os.WriteFile(file, []byte("c"), 0o644))
	got := contents(t, Project{one, ""}, Project{two, ""}, Project{two, "lib/two"}, Project{file, ""}, Project{file, "lib"}, Project{file, "etc/name.yaml"})
	want := []string{
		ignoreFile + "=*.log", Dockerfile, "a=1", "b=2", "conf.yaml=c", "etc/", "etc/name.yaml=c", "lib/", "lib/conf.yaml=c", "lib/two/",
		"lib/two/" + ignoreFile + "=*.log", "lib/two/b=2", "lib/two/same=two", "same=two",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if _, err := Scan([]Project{{one, ""}, {two, "a/b"}}); err == nil || !strings.Contains(err.Error(), "a would be a file and a folder") {
		t.Errorf("error %v", err)
	}
	if got := contents(t, Project{one, "../../up"}); !slices.Contains(got, "up/a=1") {
		t.Errorf("destination outside of the context: got %q, want up/a", got)
	}
}

// TestName: the name depends on everything that can change the image, and on nothing else.
func TestName(t *testing.T) {
	t.Parallel()
	make := func(change func(dir string)) string {
		dir := t.TempDir()
		write(t, dir, "a=1", "d/b=2")
		must(t, os.Symlink("a", filepath.Join(dir, "l")))
		change(dir)
		tree, err := Scan([]Project{{Path: dir}})
		must(t, err)
		name, err := tree.Name(t.Context(), "base")
		must(t, err)
		return name
	}
	same := make(func(string) {})
	if !strings.HasPrefix(same, "torchx-workspace:") || len(same) != len("torchx-workspace:")+hashLength {
		t.Errorf("name %s", same)
	}
	if again := make(func(dir string) { must(t, os.Chtimes(filepath.Join(dir, "a"), timeZero, timeZero)) }); again != same {
		t.Error("a changed time changes the name")
	}
	seen := map[string]string{same: "nothing"}
	for what, change := range map[string]func(dir string){
		"content": func(dir string) { write(t, dir, "a=2") },
		"mode":    func(dir string) { must(t, os.Chmod(filepath.Join(dir, "a"), 0o755)) },
		"name":    func(dir string) { must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "c"))) },
		"link": func(dir string) {
			must(t, os.Remove(filepath.Join(dir, "l")))
			must(t, os.Symlink("b", filepath.Join(dir, "l")))
		},
		"folder":     func(dir string) { write(t, dir, "empty/") },
		"Dockerfile": func(dir string) { write(t, dir, Dockerfile+"=FROM x") },
		"file for link": func(dir string) {
			must(t, os.Remove(filepath.Join(dir, "l")))
			write(t, dir, "l=a")
		},
	} {
		name := make(change)
		if other, ok := seen[name]; ok {
			t.Errorf("changes of %s and %s give the same name", what, other)
		}
		seen[name] = what
	}
	tree, err := Scan([]Project{{Path: t.TempDir()}})
	must(t, err)
	one, _ := tree.Name(t.Context(), "one")
	two, _ := tree.Name(t.Context(), "two")
	if one == two {
		t.Error("the base image does not change the name")
	}
}

var timeZero = func() (z time.Time) { return z.AddDate(2000, 0, 0) }()

// TestPathInDockerfile: the folder's path changes the name only if the Dockerfile uses it.
func TestPathInDockerfile(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, text := range []string{"FROM x", "FROM x", "FROM x\nARG WORKSPACE", "FROM x\nARG WORKSPACE"} {
		dir := t.TempDir()
		write(t, dir, Dockerfile+"="+text)
		tree, err := Scan([]Project{{Path: dir}})
		must(t, err)
		name, err := tree.Name(t.Context(), "i")
		must(t, err)
		names[name] = true
	}
	if len(names) != 3 {
		t.Errorf("got %d names, want 3", len(names))
	}
}

func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "f=text")
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	must(t, err)
	defer socket.Close()
	tree, err := Scan([]Project{{Path: dir}})
	must(t, err)
	if len(tree.Skipped) != 1 || tree.Files != 1 || tree.Bytes != 4 {
		t.Errorf("skipped %q, %d files, %d bytes", tree.Skipped, tree.Files, tree.Bytes)
	}
	must(t, os.Remove(filepath.Join(dir, "f")))
	_, err = tree.Name(t.Context(), "i")
	if err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "f")) {
		t.Errorf("deleted file: got %v", err)
	}
	if _, err := Scan([]Project{{Path: filepath.Join(dir, "no")}}); err == nil {
		t.Error("missing folder: got no error")
	}
	write(t, dir, ignoreFile+"=[a")
	if _, err := Scan([]Project{{Path: dir}}); err == nil || !strings.Contains(err.Error(), ignoreFile) {
		t.Errorf("invalid pattern: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tree.Name(ctx, "i"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled context: got %v", err)
	}
}

func TestAbsoluteRefusesURLs(t *testing.T) {
	t.Parallel()
	cwd := t.TempDir()
	must(t, os.Mkdir(filepath.Join(cwd, "s3:"), 0o700))
	for _, url := range []string{"s3://bucket/x", "memory://", "gs://b", "s3:://b", "docker://x", "FILE:///x"} {
		if dir, err := Absolute(url, cwd); err == nil || !strings.Contains(err.Error(), url+" is a URL") {
			t.Errorf("%s: %q, %v", url, dir, err)
		}
	}
	for _, dir := range []string{"file://" + cwd, ".", "s3:", "./s3:/"} {
		if _, err := Absolute(dir, cwd); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
