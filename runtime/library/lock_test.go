package library

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sampleLock has two libraries.
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
		t.Errorf("b.star: %v, %v", sum, ok)
	}
	if k := l.Find("acme"); k.Files[0].Name != "a/ x.star" || k.Path != "sub dir" {
		t.Errorf("acme is %+v", k)
	}
	if l.Find("nope") != nil {
		t.Error("an unknown library is locked")
	}
}

func TestBrokenLock(t *testing.T) {
	t.Parallel()
	text := string(sampleLock().Text())
	sum := SumOf([]byte("b")).String()
	for name, c := range map[string]struct{ old, now, want string }{
		"version":        {"version 1", "version x", `:2: broken lock file: "x" is no version`},
		"newer":          {"version 1", "version 2", "is that of a newer torchx"},
		"no version":     {"version 1\n", "", `expected "version"`},
		"conflict":       {"\nlibrary acme", "<<<<<<< HEAD\nlibrary acme", ":3: broken lock file: a merge conflict is left in it"},
		"conflict below": {"\ncommit ", "\n=======\ncommit ", "a merge conflict is left in it"},
		"other word":     {"library tools", "module tools", `expected a library, not "module tools"`},
		"name":           {"library acme", "library -x", `library name "-x"`},
		"url":            {"url https://h/r.git", "url --upload-pack=x", "begins with -"},
		"transport":      {"url https://h/r.git", "url ext::sh", "broken lock file: URL"},
		"revision":       {"revision v1", "revision -v1", "begins with -"},
		"path":           {"path sub dir", "path ../x", "leads out of the library"},
		"commit":         {strings.Repeat("ab", 20), "HEAD", `"HEAD" is no commit`},
		"folder":         {"folder ./my tools", "folder \x1b[2J", "control characters"},
		"count":          {"files 2", "files -1", `"-1" is no number of files`},
		"huge count":     {"files 2", "files 99999999999", "is no number of files"},
		"count too high": {"files 2", "files 3", "expected a file of library acme"},
		"count too low":  {"files 2", "files 1", "are not those that its sum was made of"},
		"a sum":          {sum, strings.Repeat("0", 64), "are not those that its sum was made of"},
		"no sum":         {sum, strings.Repeat("x", 64), "is no SHA-256"},
		"outside":        {"b.star", "../b.star", `the path "../b.star" leads out`},
		"absolute":       {"b.star", "/b.star", "leads out"},
		"git's folder":   {"b.star", "x/.GIT/b.star", "git's own folder"},
		"twice":          {"b.star", "a/ x.star", "is not in its place"},
		"a byte":         {"b.star", "c.star", "are not those that its sum was made of"},
	} {
		broken := strings.Replace(text, c.old, c.now, 1)
		if broken == text {
			t.Fatalf("%s: nothing is broken", name)
		}
		_, err := ParseLock("torchx.lock", []byte(broken))
		wantError(t, err, "torchx.lock:", c.want, "restore it from version control")
	}
	for cut := range len(text) - 1 { // without its last line end it is whole
		l, err := ParseLock("torchx.lock", []byte(text[:cut]))
		if err == nil && len(l.Libraries) == 2 {
			t.Errorf("cut at %d of %d it is taken for whole: %q", cut, len(text), text[:cut])
		}
	}
}

// TestLargeLockIsReadFast: 20,000 files take less than what a user would notice.
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
		t.Errorf("reading %d files took %s", MaxFiles, took)
	}
}
