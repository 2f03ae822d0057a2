package logstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// After a kill at any point, a new writer continues where the records end.
func TestReopen(t *testing.T) {
	t.Parallel()
	if _, err := Reopen(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a log: got %v, want fs.ErrNotExist", err)
	}
	tests := map[string]func(dir string) error{
		"killed between chunks": func(string) error { return nil },
		"killed before the record": func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, StdoutFile), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("unrecorded\n")
			}
			return errors.Join(err, f.Close())
		},
		"killed within a record": func(dir string) error {
			f, err := os.OpenFile(filepath.Join(dir, IndexFile), os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("half")
			}
			return errors.Join(err, f.Close())
		},
	}
	for name, damage := range tests {
		dir := t.TempDir()
		w, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(1000, 0)
		if err := errors.Join(w.Append(Stdout, []byte("one\n"), at), w.Append(Stderr, []byte("two"), at.Add(time.Second)), damage(dir)); err != nil {
			t.Fatal(err)
		}
		again, err := Reopen(dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := again.Totals(); got.StdoutBytes != 4 || got.StderrBytes != 3 || !again.Last().Equal(at.Add(time.Second)) {
			t.Errorf("%s: got totals %+v up to %v, want 4 and 3 bytes", name, got, again.Last())
		}
		if err := errors.Join(again.Append(Stdout, []byte("three\n"), at.Add(2*time.Second)), again.Gap("gap: test", at.Add(3*time.Second)), again.Close(false)); err != nil {
			t.Fatal(err)
		}
		out, _ := os.ReadFile(filepath.Join(dir, StdoutFile))
		errs, _ := os.ReadFile(filepath.Join(dir, StderrFile))
		if string(out) != "one\nthree\n" || string(errs) != "two\n" {
			t.Errorf("%s: got %q, %q, want all lines and ended gaps", name, out, errs)
		}
	}
}

// A kill during Create leaves only some of the files.
func TestReopenAfterInterruptedCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, StdoutFile), []byte("unrecorded"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Reopen(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Append(Stdout, []byte("x\n"), time.Now()), w.Close(false)); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(filepath.Join(dir, StdoutFile)); string(data) != "x\n" {
		t.Errorf("got %q, want the new line alone", data)
	}
}
