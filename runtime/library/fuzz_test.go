package library

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzProject: an accepted project has no options, control characters or unsupported
// transports, and is parsed again as it was written.
func FuzzProject(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("lib a \"./\\x41\" # c\nreplace a ../x"))
	f.Add([]byte("lib a file:///x --upload-pack=y"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseProject("f", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("got error %q, want one line that starts with f:", err)
			}
			return
		}
		for _, l := range p.Libraries {
			for _, text := range []string{l.Name, l.URL, l.Revision, l.Path, l.Folder} {
				if strings.HasPrefix(text, "-") || strings.ContainsFunc(text, isControl) {
					t.Errorf("got %q accepted, want an error", text)
				}
			}
			scheme, _, _ := strings.Cut(l.URL, "://")
			if l.URL != "" && scheme != "https" && scheme != "ssh" && scheme != "file" {
				t.Errorf("got URL %q accepted, want an error", l.URL)
			}
			q := &Project{}
			if err := q.Set(l); err != nil {
				t.Fatal(err)
			}
			if again, _ := q.Find(l.Name); !again.same(l) {
				t.Errorf("got %+v, want %+v", again, l)
			}
		}
		again, err := ParseProject("f", p.Text())
		if err != nil || !bytes.Equal(again.Text(), p.Text()) {
			t.Errorf("%q read again: got %v, want the same text", p.Text(), err)
		}
	})
}

// FuzzLock: an accepted lock stays inside its library and is written as it was read.
func FuzzLock(f *testing.F) {
	f.Add(sampleLock().Text())
	f.Add([]byte("version 1\n\nlibrary x\nfolder ./x\nsum e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nfiles 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLock("f", data)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("got error %q, want one line that starts with f:", err)
			}
			return
		}
		for _, k := range l.Libraries {
			if err := k.Check(); err != nil {
				t.Errorf("got %+v accepted, want %v", k.Library, err)
			}
			for _, file := range k.Files {
				if strings.HasPrefix(file.Name, "/") || strings.Contains("/"+file.Name+"/", "/../") || strings.ContainsFunc(file.Name, isControl) {
					t.Errorf("got file %q accepted, want an error", file.Name)
				}
			}
		}
		if again, err := ParseLock("f", l.Text()); err != nil || !bytes.Equal(again.Text(), l.Text()) {
			t.Errorf("%q read again: got %v, want the same text", l.Text(), err)
		}
	})
}
