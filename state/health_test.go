package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/history"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	db := openAt(t, path, Options{})
	for i := range 50 {
		mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: fmt.Sprint("app", i)}, Spec: []byte(`"` + strings.Repeat("x", 2000) + `"`)})
	}
	h, err := db.Check(t.Context())
	if err != nil || h.Apps != 50 || h.Journal != "wal" || h.Bytes < 50*2000 {
		t.Errorf("got %+v, %v, want 50 apps and a WAL", h, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got %v, want context.Canceled", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	// Damage in the middle, which Open does not detect.
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("damage", 4000)), info.Size()/2); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := openAt(t, path, Options{}).Check(t.Context()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("damaged file: got %v, want ErrCorrupt", err)
	}
}
