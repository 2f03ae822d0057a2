package state

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// helperEnv makes the test binary run a helper: "name argument…".
const helperEnv = "TORCHX_STATE_TEST_HELPER"

var helpers = map[string]func(args []string) error{
	"insert":   helperInsert,
	"umask":    helperUmask,
	"migrate":  helperMigrate,
	"readonly": helperReadOnly,
	"aside":    helperAside,
}

func TestMain(m *testing.M) {
	if words := strings.Split(os.Getenv(helperEnv), "\n"); words[0] != "" {
		if err := helpers[words[0]](words[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// helper returns a command that runs a helper in another process.
func helper(t *testing.T, words ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), helperEnv+"="+strings.Join(words, "\n"))
	return c
}

func runHelper(t *testing.T, words ...string) {
	t.Helper()
	if out, err := helper(t, words...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", words, err, out)
	}
}

// helperInsert records count apps named <prefix>-<n>, one by one.
func helperInsert(args []string) error {
	count, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	// SQLite's lock is not fair: on a slow machine with many writers a process can wait long.
	db, err := Open(context.Background(), args[0], Options{NoWAL: args[3] == "nowal", BusyTimeout: time.Minute})
	if err != nil {
		return err
	}
	for i := range count {
		a := history.App{AppKey: history.AppKey{Backend: "local", ID: fmt.Sprintf("%s-%d", args[1], i)}, SubmittedAt: new(time.Now()), Outcome: history.Outcome{State: spec.Submitted}}
		if err := db.Insert(context.Background(), a); err != nil {
			return err
		}
	}
	if args[3] == "leave" {
		return db.CloseForExit()
	}
	return db.Close()
}

// helperUmask records an app under a umask and keeps the file open until its input ends, so that
// -wal and -shm exist.
func helperUmask(args []string) error {
	mask, err := strconv.ParseInt(args[1], 8, 32)
	if err != nil {
		return err
	}
	setUmask(int(mask))
	db, err := Open(context.Background(), args[0], Options{})
	if err != nil {
		return err
	}
	if err := db.Insert(context.Background(), history.App{AppKey: history.AppKey{ID: "a"}, SubmittedAt: new(time.Now())}); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, db.Close())
}

// helperMigrate pauses in the middle of the first migration until it is killed.
func helperMigrate(args []string) error {
	if err := prepareFile(args[0]); err != nil {
		return err
	}
	s, err := pool(dsn(args[0], Options{BusyTimeout: time.Second}))
	if err != nil {
		return err
	}
	tx, err := s.Begin()
	if err != nil {
		return err
	}
	if err := apply(context.Background(), tx, migrationNames()); err != nil {
		return err
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// helperReadOnly reads a history as a user without write permission.
func helperReadOnly(args []string) error {
	if err := dropRoot(); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := Open(ctx, args[0], Options{BusyTimeout: 100 * time.Millisecond})
	if err != nil {
		return err
	}
	if a, err := db.Get(ctx, "local", "a"); err != nil || a.ID != "a" {
		return fmt.Errorf("Get: got %v, %w, want a", a, err)
	}
	if len(db.Notices()) != 1 || !db.ReadOnly() {
		return fmt.Errorf("got notices %q, read-only %v, want one notice, true", db.Notices(), db.ReadOnly())
	}
	if err := db.Insert(ctx, history.App{AppKey: history.AppKey{ID: "b"}, SubmittedAt: new(time.Now())}); !errors.Is(err, ErrReadOnly) || strings.Contains(err.Error(), "\n") {
		return fmt.Errorf("Insert: got %w, want ErrReadOnly", err)
	}
	if _, err := Open(ctx, filepath.Join(filepath.Dir(args[0]), "new", "state.db"), Options{}); !errors.Is(err, ErrReadOnly) {
		return fmt.Errorf("Open of a new file: got %w, want ErrReadOnly", err)
	}
	return db.Close()
}

func helperAside(args []string) error {
	db, err := Open(context.Background(), args[0], Options{SetAside: true})
	if err != nil {
		return err
	}
	if err := db.Insert(context.Background(), history.App{AppKey: history.AppKey{ID: args[1]}, SubmittedAt: new(time.Now())}); err != nil {
		return err
	}
	return db.Close()
}

// startUntilReady starts a helper and returns after its line "ready".
func startUntilReady(t *testing.T, words ...string) (c *exec.Cmd, end func()) {
	t.Helper()
	c = helper(t, words...)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("helper: got %q, %v, want ready", line, err)
	}
	return c, func() { in.Close(); c.Wait() }
}

// clock is a fixed time with nanoseconds, to detect lost precision.
var clock = time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)

func openTest(t *testing.T, o Options) *DB {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "state.db"), o)
}

func openAt(t *testing.T, path string, o Options) *DB {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return clock }
	}
	db, err := Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustInsert(t *testing.T, db *DB, apps ...history.App) {
	t.Helper()
	for _, a := range apps {
		if a.SubmittedAt == nil {
			a.SubmittedAt = new(clock)
		}
		if err := db.Insert(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
}

// oneLine checks an error: its kind, that it is one line, and words in it.
func oneLine(t *testing.T, err, kind error, words ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("got error %v, want %v", err, kind)
	}
	text := err.Error()
	if strings.Contains(text, "\n") {
		t.Errorf("got error %q, want one line", text)
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("got error %q, want %q", text, w)
		}
	}
}
