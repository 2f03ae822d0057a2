package library

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// vendored lists the files in torchx.vendor.
func (b *bench) vendored() string {
	b.t.Helper()
	var names []string
	dir := filepath.Join(b.Root, VendorDir)
	must(b.t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(dir)+"/"))
		}
		return err
	}))
	return strings.Join(names, " ")
}

func TestVendor(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1", "sub/y.star": "y", "sub/.gitignore": "*", ".gitattributes": "* eol=crlf"})
	b := newBench(t)
	outside := t.TempDir()
	write(t, b.Root, map[string]string{"in/i.star": "i"})
	write(t, outside, map[string]string{"o.star": "o"})
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	b.add(Library{Name: "in", Folder: "./in"})
	b.add(Library{Name: "out", Folder: outside})
	_, err := b.Vendor(context.Background())
	must(t, err)
	if got := b.vendored(); got != ".gitattributes acme/sub/y.star acme/x.star out/o.star" {
		t.Errorf("got vendored files %s, want those outside of the project", got)
	}
	// From now on, cache, repository and folder are not needed.
	must(t, os.RemoveAll(b.Cache.Dir))
	must(t, os.RemoveAll(r.dir))
	must(t, os.RemoveAll(outside))
	b.reads("acme", "sub/y.star", "y")
	b.reads("out", "o.star", "o")
	done, err := b.Verify(context.Background())
	if err != nil || done.Libraries != 3 {
		t.Errorf("Verify: got %+v, %v, want 3 libraries", done, err)
	}
	if changes, err := b.Sync(context.Background()); err != nil || len(changes) > 0 {
		t.Errorf("Sync: got %v, %v, want no changes", changes, err)
	}
}

func TestVendorFollowsTheLock(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1"})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	_, err := b.Vendor(context.Background())
	must(t, err)
	r.commit(map[string]string{"x.star": "2"})
	_, err = b.Update(context.Background(), nil)
	must(t, err)
	b.reads("acme", "x.star", "2")
	b.add(Library{Name: "more", URL: r.url(), Revision: "main"})
	if got := b.vendored(); got != ".gitattributes acme/x.star more/x.star" {
		t.Errorf("got vendored files %s, want both libraries", got)
	}
	_, err = b.Remove([]string{"acme"})
	must(t, err)
	if got := b.vendored(); got != ".gitattributes more/x.star" {
		t.Errorf("got vendored files %s, want more alone", got)
	}
}

func TestVendoredFilesAreChecked(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1", "y.star": "2"})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	_, err := b.Vendor(context.Background())
	must(t, err)
	path := filepath.Join(b.Root, VendorDir, "acme")
	write(t, path, map[string]string{"x.star": "evil"})
	_, err = b.read("acme", "x.star")
	wantError(t, err, "it was changed in torchx.vendor/acme: run `torchx lib vendor`")
	_, err = b.Verify(context.Background())
	wantError(t, err, "library @acme: x.star: it was changed")
	must(t, os.Remove(filepath.Join(path, "x.star")))
	must(t, os.Symlink("/etc/passwd", filepath.Join(path, "x.star")))
	_, err = b.read("acme", "x.star")
	wantError(t, err, "path escapes")
	must(t, os.Remove(filepath.Join(path, "x.star")))
	_, err = b.read("acme", "x.star")
	wantError(t, err, "it is not in torchx.vendor/acme: run `torchx lib vendor`")
	_, err = b.Vendor(context.Background())
	must(t, err)
	b.reads("acme", "x.star", "1")
	write(t, path, map[string]string{"z.star": ""})
	_, err = b.Verify(context.Background())
	wantError(t, err, "torchx.vendor/acme has files that are not in the lock: z.star; `torchx lib vendor` removes them")
	if _, err := b.read("acme", "z.star"); err == nil {
		t.Error("a file that is not in the lock: got nil, want an error")
	}
}

// TestVendorIsRestoredFromTheCache, without a fetch.
func TestVendorIsRestoredFromTheCache(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1", "sub/y.star": "2"})
	b := newBench(t)
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	_, err := b.Vendor(context.Background())
	must(t, err)
	must(t, os.RemoveAll(r.dir))
	b.Git.Offline = true
	path := filepath.Join(b.Root, VendorDir, "acme")
	for what, damage := range map[string]func(){
		"changed":  func() { write(t, path, map[string]string{"x.star": "evil"}) },
		"gone":     func() { must(t, os.RemoveAll(filepath.Join(path, "sub"))) },
		"foreign":  func() { write(t, path, map[string]string{"z.star": ""}) },
		"all gone": func() { must(t, os.RemoveAll(path)) },
		"a folder": func() {
			must(t, os.Remove(filepath.Join(path, "x.star")))
			must(t, os.Mkdir(filepath.Join(path, "x.star"), 0o700))
		},
		"not a library": func() { must(t, os.RemoveAll(path)); must(t, os.WriteFile(path, nil, 0o600)) },
	} {
		for name, restore := range map[string]func(context.Context) ([]Change, error){"sync": b.Sync, "vendor": b.Vendor} {
			damage()
			if changes, err := restore(context.Background()); err != nil || len(changes) > 0 {
				t.Errorf("%s: %s: got %v, %v, want no changes", what, name, changes, err)
			}
			if _, err := b.Verify(context.Background()); err != nil {
				t.Errorf("%s: Verify after %s: got %v, want nil", what, name, err)
			}
		}
	}
	if messages := strings.Join(b.messages, "\n"); !strings.Contains(messages, "restored @acme in torchx.vendor") {
		t.Errorf("got messages %q, want that acme was restored", messages)
	}
	write(t, path, map[string]string{"x.star": "evil"})
	must(t, os.RemoveAll(b.Cache.Dir))
	_, err = b.Sync(context.Background())
	wantError(t, err, "library @acme: ")
}

func TestList(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1"})
	b := newBench(t)
	if list, err := b.List(); err != nil || list != nil {
		t.Errorf("got %v, %v, want none", list, err)
	}
	write(t, b.Root, map[string]string{"f/x.star": ""})
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	b.add(Library{Name: "tools", Folder: "./f"})
	problems := func() (out []string) {
		list, err := b.List()
		must(t, err)
		for _, s := range list {
			out = append(out, s.Problem)
		}
		return out
	}
	if p := problems(); strings.Join(p, "") != "" {
		t.Errorf("got problems %q, want none", p)
	}
	must(t, os.RemoveAll(b.Cache.Dir))
	must(t, os.RemoveAll(filepath.Join(b.Root, "f")))
	if p := problems(); p[0] != "it is not fetched yet: run `torchx lib sync`" || p[1] != "x.star is gone from ./f" {
		t.Errorf("got problems %q, want missing files", p)
	}
	must(t, os.Remove(filepath.Join(b.Root, LockFile)))
	if p := problems(); p[0] != "it is not in torchx.lock: run `torchx lib sync`" {
		t.Errorf("got problems %q, want that it is not locked", p)
	}
}

// TestLinksInAProject: a link in place of a file or folder of the project does not make a
// command write or remove anything outside of it.
func TestLinksInAProject(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1"})
	b := newBench(t)
	outside := t.TempDir()
	write(t, outside, map[string]string{"precious/x": "1", "acme/x": "2", "lock": "version 1\n"})
	must(t, os.Symlink(outside, filepath.Join(b.Root, VendorDir)))
	must(t, os.Symlink(filepath.Join(outside, "lock"), filepath.Join(b.Root, LockFile)))
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	_, err := b.Vendor(context.Background())
	wantError(t, err, "torchx.vendor is not a folder: move it away")
	_, err = b.Remove([]string{"acme"})
	must(t, err)
	for name, want := range map[string]string{"precious/x": "1", "acme/x": "2", "lock": "version 1\n"} {
		if data, err := os.ReadFile(filepath.Join(outside, name)); err != nil || string(data) != want {
			t.Errorf("%s outside: got %q, %v, want it unchanged", name, data, err)
		}
	}
}

func TestForeignFoldersStay(t *testing.T) {
	t.Parallel()
	r := newRepo(t, map[string]string{"x.star": "1"})
	b := newBench(t)
	write(t, b.Root, map[string]string{"torchx.vendor/mine/x": "1", "torchx.vendor/.torchx-1/new/x": ""})
	b.add(Library{Name: "acme", URL: r.url(), Revision: "main"})
	if got := b.vendored(); got != ".gitattributes acme/x.star mine/x" {
		t.Errorf("got vendored files %s, want the foreign folder kept", got)
	}
}
