package state

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/test/homedir"
)

func TestOpenCreatesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b", "state.db")
	db := openAt(t, path, Options{})
	if !db.created || len(db.Notices()) != 0 || db.ReadOnly() || db.Path() != path {
		t.Errorf("first Open: got created %v, notices %q, read-only %v, path %s", db.created, db.Notices(), db.ReadOnly(), db.Path())
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	again := openAt(t, path, Options{})
	if again.created {
		t.Error("second Open: got created, want not created")
	}
	if _, err := again.Get(t.Context(), "local", "a"); err != nil {
		t.Error(err)
	}
}

func TestOpenOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a b", "q?x=1", "h#1", "p%20q", "amp&c=1", "é世", "semi;colon", "-dash"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), name)
			mustInsert(t, openAt(t, filepath.Join(dir, "state.db"), Options{}), history.App{AppKey: history.AppKey{ID: "a"}})
			if _, err := os.Stat(filepath.Join(dir, "state.db")); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenRefusesFolder(t *testing.T) {
	t.Parallel()
	path := t.TempDir()
	_, err := Open(t.Context(), path, Options{})
	oneLine(t, err, ErrUnavailable, path, "not a regular file")
}

func TestOpenUnderFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "home")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), filepath.Join(file, "state.db"), Options{})
	oneLine(t, err, ErrUnavailable, file, "TORCHX_HOME")
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func TestModesIgnoreTheUmask(t *testing.T) {
	t.Parallel()
	for _, mask := range []string{"000", "022", "077", "277"} {
		t.Run(mask, func(t *testing.T) {
			t.Parallel()
			home := filepath.Join(t.TempDir(), "home", "x")
			path := filepath.Join(home, "state.db")
			_, end := startUntilReady(t, "umask", path, mask)
			defer end()
			checkMode(t, filepath.Dir(home), 0o700)
			checkMode(t, home, 0o700)
			for _, suffix := range []string{"", "-wal", "-shm"} {
				checkMode(t, path+suffix, 0o600)
			}
			if left, _ := filepath.Glob(filepath.Join(home, ".state-*")); len(left) != 0 {
				t.Errorf("got %v left over, want nothing", left)
			}
		})
	}
}

func checkMode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s: got mode %o, want %o", path, got, want)
	}
}

func TestOpenTightensMode(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	openAt(t, path, Options{})
	checkMode(t, path, 0o600)
}

func TestPragmas(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{BusyTimeout: 1234 * time.Millisecond})
	for pragma, want := range map[string]string{"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "1234", "synchronous": "1"} {
		var got string
		if err := db.sql.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s: got %s (%v), want %s", pragma, got, err, want)
		}
	}
}

func TestWithoutWAL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	// SQLite's dot-file layer has no shared memory, like some network file systems.
	db := openAt(t, path, Options{vfs: "unix-dotfile"})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	if n := db.Notices(); len(n) != 1 || !strings.Contains(n[0], path) || !strings.Contains(n[0], "TORCHX_HOME") {
		t.Errorf("got notices %q, want one with path and remedy", n)
	}
	var mode string
	if err := db.sql.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil || mode != "truncate" {
		t.Errorf("got journal mode %s, %v, want truncate", mode, err)
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		t.Error("got a -wal file, want none")
	}
}

func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	if os.Geteuid() == 0 { // another user reads it
		if parent = homedir.Public(t); parent == "" {
			t.Fatal("got no folder that other users can enter")
		}
	}
	home := filepath.Join(parent, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "state.db")
	db := openAt(t, path, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(path, 0o444), os.Chmod(home, 0o555)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(home, 0o755) })
	runHelper(t, "readonly", path)
}

func TestNewerSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	db := openAt(t, path, Options{})
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
	setVersion := func(v int) {
		if _, err := db.sql.Exec(fmt.Sprintf("PRAGMA user_version = %d", v)); err != nil {
			t.Fatal(err)
		}
	}
	setVersion(schemaMajor*majorFactor + len(migrationNames()) + 7)
	mustInsert(t, openAt(t, path, Options{}), history.App{AppKey: history.AppKey{Backend: "local", ID: "minor"}})

	setVersion((schemaMajor+1)*majorFactor + 3)
	_, err := Open(t.Context(), path, Options{})
	oneLine(t, err, ErrNewerSchema, "newer torchx", fmt.Sprintf("%d.3", schemaMajor+1), "TORCHX_HOME")
	mustInsert(t, openAt(t, path, Options{Agent: true}), history.App{AppKey: history.AppKey{Backend: "local", ID: "agent"}})
	var after int
	if err := db.sql.QueryRow("PRAGMA user_version").Scan(&after); err != nil || after != (schemaMajor+1)*majorFactor+3 {
		t.Errorf("after the agent's Open: got version %d (%v), want it unchanged", after, err)
	}
}

func TestMigrationsAreNumbered(t *testing.T) {
	t.Parallel()
	names := migrationNames()
	for i, name := range names {
		if n, err := migrationNumber(name); err != nil || n != i+1 {
			t.Errorf("migration %d: got %s (%v)", i+1, name, err)
		}
	}
	if len(names) == 0 || len(names) >= majorFactor {
		t.Errorf("got %d migrations, want 1 to %d", len(names), majorFactor-1)
	}
}

func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	c, end := startUntilReady(t, "migrate", path)
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	end()
	db := openAt(t, path, Options{})
	if !db.created {
		t.Error("got a migrated file after the kill, want a new one")
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{ID: "a"}})
}

func TestLocked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	holder := openAt(t, path, Options{})
	db := openAt(t, path, Options{BusyTimeout: 20 * time.Millisecond})
	err := holder.write(t.Context(), "hold", func(*sql.Tx) error {
		err := db.Insert(t.Context(), history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, SubmittedAt: new(clock)})
		oneLine(t, err, ErrLocked, path, "another process")
		_, err = db.List(t.Context(), history.Filter{})
		return err // readers do not wait for a writer
	})
	if err != nil {
		t.Error(err)
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}})
}

func TestWaitsForLock(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	holder, db := openAt(t, path, Options{}), openAt(t, path, Options{})
	started, done := make(chan struct{}), make(chan error, 1)
	err := holder.write(t.Context(), "hold", func(*sql.Tx) error {
		go func() {
			close(started)
			done <- db.Insert(t.Context(), history.App{AppKey: history.AppKey{Backend: "local", ID: "a"}, SubmittedAt: new(clock)})
		}()
		<-started
		return nil
	})
	if err := errors.Join(err, <-done); err != nil {
		t.Error(err)
	}
}

func TestMovedWhileOpen(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(path string) error{
		"deleted": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			db := openAt(t, path, Options{})
			if err := act(path); err != nil {
				t.Fatal(err)
			}
			oneLine(t, db.Insert(t.Context(), history.App{AppKey: history.AppKey{ID: "a"}, SubmittedAt: new(clock)}), ErrMoved, path)
			db.Close()
			again := openAt(t, path, Options{})
			mustInsert(t, again, history.App{AppKey: history.AppKey{ID: "a"}})
			if !again.created {
				t.Error("new file: got not created, want created")
			}
		})
	}
}

func TestManyProcesses(t *testing.T) {
	t.Parallel()
	for _, mode := range []struct {
		name             string
		processes, count int
	}{{"wal", 8, 200}, {"nowal", 4, 25}} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "new", "state.db")
			var all sync.WaitGroup
			for i := range mode.processes {
				all.Go(func() {
					c := helper(t, "insert", path, fmt.Sprint(i), fmt.Sprint(mode.count), mode.name)
					if out, err := c.CombinedOutput(); err != nil {
						t.Errorf("process %d: got %v, want success\n%s", i, err, out)
					}
				})
			}
			all.Wait()
			apps, err := openAt(t, path, Options{NoWAL: mode.name == "nowal"}).List(t.Context(), history.Filter{})
			if err != nil || len(apps) != mode.processes*mode.count {
				t.Errorf("got %d apps, %v, want %d", len(apps), err, mode.processes*mode.count)
			}
		})
	}
}

func TestLeaveLosesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	const processes = 20
	for i := range processes {
		runHelper(t, "insert", path, fmt.Sprint(i), "1", "leave")
		if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > maxLeftWAL {
			t.Errorf("process %d: got a WAL of %d bytes, want at most maxLeftWAL", i, wal.Size())
		}
	}
	if apps, err := openAt(t, path, Options{}).List(t.Context(), history.Filter{}); err != nil || len(apps) != processes {
		t.Errorf("got %d apps, %v, want %d", len(apps), err, processes)
	}
}
