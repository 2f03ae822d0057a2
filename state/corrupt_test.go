package state

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"torchx/runtime/history"
)

// damaged creates a history and damages it.
func damaged(t *testing.T, damage func(path string) error) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "state.db")
	db := openAt(t, path, Options{})
	for i := range 50 {
		mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: fmt.Sprintf("app-%d", i)}, Spec: []byte(`"` + strings.Repeat("x", 500) + `"`)})
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := damage(path); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, content
}

func garbage(path string) error {
	return os.WriteFile(path, bytes.Repeat([]byte("no database "), 1000), 0o600)
}

func wreck(from, to int64) func(path string) error {
	return func(path string) error {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(bytes.Repeat([]byte{0xa5}, int(to-from)), from)
		return errors.Join(err, f.Close())
	}
}

func TestCorruptIsSetAside(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(string) error{
		"garbage": garbage,
		"header":  wreck(0, 100),
		"schema":  wreck(100, 4096),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, content := damaged(t, damage)
			_, err := Open(t.Context(), path, Options{})
			oneLine(t, err, ErrCorrupt, path)
			db := openAt(t, path, Options{SetAside: true})
			if kept, err := os.ReadFile(db.aside); err != nil || !bytes.Equal(kept, content) {
				t.Errorf("kept as %q: got same bytes: %v, %v, want true", db.aside, bytes.Equal(kept, content), err)
			}
			if want := path + ".corrupt-20260102T030405"; !strings.HasPrefix(db.aside, want) {
				t.Errorf("got kept as %q, want %s…", db.aside, want)
			}
			if n := db.Notices(); !db.created || len(n) != 1 || !strings.Contains(n[0], db.aside) {
				t.Errorf("got created %v, notices %q, want a new file and one notice", db.created, n)
			}
			mustInsert(t, db, history.App{AppKey: history.AppKey{ID: "a"}})
		})
	}
}

func TestCorruptPageInQuery(t *testing.T) {
	t.Parallel()
	path, _ := damaged(t, wreck(8192, 65536))
	db, err := Open(t.Context(), path, Options{})
	if err != nil {
		oneLine(t, err, ErrCorrupt, path)
		return
	}
	defer db.Close()
	_, err = db.List(t.Context(), history.Filter{Details: true})
	oneLine(t, err, ErrCorrupt, path, "torchx list")
}

func TestCorruptPageIsSetAsideByQuery(t *testing.T) {
	t.Parallel()
	path, _ := damaged(t, wreck(8192, 65536))
	db := openAt(t, path, Options{SetAside: true})
	if _, err := db.List(t.Context(), history.Filter{Details: true}); db.aside == "" {
		oneLine(t, err, ErrCorrupt, path+".corrupt-", "again")
	}
	apps, err := openAt(t, path, Options{SetAside: true}).List(t.Context(), history.Filter{Details: true})
	if err != nil || len(apps) != 0 {
		t.Errorf("the next command got %d apps, %v, want an empty new history", len(apps), err)
	}
}

func TestTruncatedIsSetAside(t *testing.T) {
	t.Parallel()
	path, _ := damaged(t, func(path string) error { return os.Truncate(path, 4096) })
	if aside, err := SetAside(t.Context(), path, clock); err != nil || !strings.HasPrefix(aside, path+".corrupt-2026") {
		t.Errorf("got kept as %q, %v, want a corrupt file", aside, err)
	}
	if !openAt(t, path, Options{}).created {
		t.Error("got no new history, want one")
	}
}

func TestSetAsideLeavesGoodFile(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	if aside, err := SetAside(t.Context(), db.Path(), clock); aside != "" || err != nil {
		t.Errorf("got set aside as %q, %v, want neither", aside, err)
	}
	if _, err := db.Get(t.Context(), "local", "a"); err != nil {
		t.Error(err)
	}
}

func TestCorruptIsSetAsideOnce(t *testing.T) {
	t.Parallel()
	path, _ := damaged(t, garbage)
	const processes = 6
	var all sync.WaitGroup
	for i := range processes {
		all.Go(func() {
			if out, err := helper(t, "aside", path, fmt.Sprint(i)).CombinedOutput(); err != nil {
				t.Errorf("process %d: got %v, want success\n%s", i, err, out)
			}
		})
	}
	all.Wait()
	if kept, err := filepath.Glob(path + ".corrupt-*"); err != nil || len(kept) != 1 {
		t.Errorf("got kept files %v, %v, want one", kept, err)
	}
	apps, err := openAt(t, path, Options{}).List(t.Context(), history.Filter{})
	if err != nil || len(apps) != processes {
		t.Errorf("got %d apps, want %d, %v", len(apps), processes, err)
	}
}
