package consent

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConsentHoldsForOneContent(t *testing.T) {
	t.Parallel()
	list, dir := Of(filepath.Join(t.TempDir(), "home")), t.TempDir()
	file := write(t, filepath.Join(dir, "kc"), "one")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	check := func(what string, want error) {
		t.Helper()
		for _, path := range []string{file, link} {
			if got := list.Check(path); !errors.Is(got, want) {
				t.Errorf("%s: Check(%s): got %v, want %v", what, path, got, want)
			}
		}
	}
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check("new", ErrUnknown)
	do(list.Trust(link))
	check("trusted", nil)
	write(t, file, "two")
	check("changed", ErrChanged)
	write(t, file, "one")
	check("restored", nil)
	do(list.Revoke(file))
	check("revoked", ErrRevoked)
	do(list.Trust(file))
	do(os.Remove(file))
	if err := list.Check(file); err != nil {
		t.Errorf("a missing file: got %v, want nil", err)
	}
	do(list.Revoke(file))
	if err := list.Revoke(filepath.Join(dir, "other")); !errors.Is(err, ErrUnknown) {
		t.Errorf("Revoke of an unknown file: got %v, want %v", err, ErrUnknown)
	}
	if info, err := os.Stat(list.file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("list: got mode %v, %v, want 0600", info.Mode(), err)
	}
}

func TestOnlyRegularFilesAreTrusted(t *testing.T) {
	t.Parallel()
	list, dir := Of(t.TempDir()), t.TempDir()
	for _, path := range []string{dir, os.DevNull} {
		if err := list.Trust(path); err == nil || !strings.Contains(err.Error(), "want a regular file") {
			t.Errorf("Trust(%s): got %v, want an error about the kind of file", path, err)
		}
		if list.Check(path) == nil {
			t.Errorf("Check(%s): got nil, want an error", path)
		}
	}
	file := write(t, filepath.Join(dir, "kc"), "x")
	write(t, list.file, "{")
	if err := list.Check(file); err == nil || !strings.Contains(err.Error(), "remove it and trust your files again") {
		t.Errorf("a damaged list: got %v, want the remedy", err)
	}
}

func TestConcurrentTrust(t *testing.T) {
	t.Parallel()
	list, dir := Of(t.TempDir()), t.TempDir()
	var all sync.WaitGroup
	for i := range 16 {
		file := write(t, filepath.Join(dir, strconv.Itoa(i)), "x")
		all.Go(func() {
			if err := list.Trust(file); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if entries, err := list.Entries(); err != nil || len(entries) != 16 {
		t.Errorf("got %d entries, %v, want 16", len(entries), err)
	}
}
