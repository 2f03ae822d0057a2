package library

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sampleLock returns a lock with two libraries.
func sampleLock() *Lock {
	l := &Lock{}
	a := &Locked{
		Library: Library{Name: "acme", URL: "https://h/r.git", Revision: "v1", Path: "sub dir"},
		Commit:  strings.Repeat("ab", 20), Files: []File{{"b.star", SumOf([]byte("b"))}, {"a/ x.star", SumOf(nil)}},
	}
	a.seal()
	l.Set(&Locked{Library: Library{Name: "tools", Folder: "./my tools"}})
	l.Set(a)
	return l
}

func TestLockIsReadAsWritten(t *testing.T) {
	t.Parallel()
	text := string(sampleLock().Text())
	l, err := ParseLock("torchx.lock", []byte("\uFEFF"+strings.ReplaceAll(text, "\n", "\r\n")))
	must(t, err)
	if got := string(l.Text()); got != text {
		t.Errorf("got %s, want %s", got, text)
	}
	if sum, ok := l.Find("acme").Sum("b.star"); !ok || sum != SumOf([]byte("b")) {
		t.Errorf("b.star: got %v, %v, want its sum", sum, ok)
	}
	if k := l.Find("acme"); k.Files[0].Name != "a/ x.star" || k.Path != "sub dir" {
		t.Errorf("acme: got %+v, want its files sorted and its path", k)
	}
	if l.Find("nope") != nil {
		t.Error("unknown library: got a lock, want nil")
	}
}

func TestBrokenLock(t *testing.T) {
	t.Parallel()
	text := string(sampleLock().Text())
	sum := SumOf([]byte("b")).String()
	for name, c := range map[string]struct{ old, now, want string }{
		"version":        {"version 1", "version x", `:2: broken lock file: invalid version "x"`},
		"newer":          {"version 1", "version 2", "version 2 needs a newer torchx"},
		"no version":     {"version 1\n", "", `expected "version"`},
		"conflict":       {"\nlibrary acme", "<<<<<<< HEAD\nlibrary acme", ":3: broken lock file: it contains a merge conflict"},
		"conflict below": {"\ncommit ", "\n=======\ncommit ", "it contains a merge conflict"},
		"other word":     {"library tools", "module tools", `expected a library, not "module tools"`},
		"name":           {"library acme", "library -x", `library name "-x"`},
		"url":            {"url https://h/r.git", "url --upload-pack=x", "starts with -"},
		"transport":      {"url https://h/r.git", "url ext::sh", "broken lock file: URL"},
		"revision":       {"revision v1", "revision -v1", "starts with -"},
		"path":           {"path sub dir", "path ../x", "leads out of the library"},
		"commit":         {strings.Repeat("ab", 20), "HEAD", `invalid commit "HEAD"`},
		"folder":         {"folder ./my tools", "folder \x1b[2J", "control characters"},
		"count":          {"files 2", "files -1", `invalid number of files "-1"`},
		"huge count":     {"files 2", "files 99999999999", "invalid number of files"},
		"count too high": {"files 2", "files 3", "expected a file of library acme"},
		"count too low":  {"files 2", "files 1", "do not match its sum"},
		"a sum":          {sum, strings.Repeat("0", 64), "do not match its sum"},
		"no sum":         {sum, strings.Repeat("x", 64), "invalid SHA-256"},
		"outside":        {"b.star", "../b.star", `the path "../b.star" leads out`},
		"absolute":       {"b.star", "/b.star", "leads out"},
		"git's folder":   {"b.star", "x/.GIT/b.star", "git's own folder"},
		"twice":          {"b.star", "a/ x.star", "is out of order"},
		"a byte":         {"b.star", "c.star", "do not match its sum"},
	} {
		broken := strings.Replace(text, c.old, c.now, 1)
		if broken == text {
			t.Fatalf("%s: the replaced text was not found", name)
		}
		_, err := ParseLock("torchx.lock", []byte(broken))
		wantError(t, err, "torchx.lock:", c.want, "restore it from version control")
	}
	for cut := range len(text) - 1 { // a missing last line end is fine
		l, err := ParseLock("torchx.lock", []byte(text[:cut]))
		if err == nil && len(l.Libraries) == 2 {
			t.Errorf("cut at %d of %d: got %q accepted, want an error", cut, len(text), text[:cut])
		}
	}
}

// TestLargeLockIsReadFast: 20,000 files take less time than a user would notice.
func TestLargeLockIsReadFast(t *testing.T) {
	t.Parallel()
	k := &Locked{Library: Library{Name: "big", URL: "https://h/r.git", Revision: "v1"}, Commit: strings.Repeat("ab", 20)}
	for i := range MaxFiles {
		k.Files = append(k.Files, File{fmt.Sprintf("dir%d/file%d.star", i%100, i), SumOf(fmt.Append(nil, i))})
	}
	k.seal()
	l := &Lock{}
	l.Set(k)
	text := l.Text()
	start := time.Now()
	if _, err := ParseLock("torchx.lock", text); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("reading %d files took %s, want at most 2 s", MaxFiles, took)
	}
}
