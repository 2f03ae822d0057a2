package archive

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// TestTailOfMany: the last lines of many replicas take one request each, and no copies.
func TestTailOfMany(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(), t.TempDir()
	for i := range manyReplicas {
		r := run(fmt.Sprint("u", i), 0)
		r.Replica.ID = i
		c.add(r, "first\n", fmt.Sprintf("last of %d\n", i))
	}
	restarted := run("again", 0) // one request cannot read its last lines
	restarted.Replica.ID, restarted.Restart = manyReplicas, 1
	c.add(restarted, "first\n", "last\n")
	a := newApp(t, c, dir)
	lastLine := func(id int) string {
		t.Helper()
		r, err := a.Open(t.Context(), spec.Replica{Role: worker.Role, ID: id}, backend.LogOptions{Tail: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text := ""
		for {
			b, err := r.Next(t.Context())
			if errors.Is(err, io.EOF) {
				return text
			}
			if err != nil {
				t.Fatal(err)
			}
			text += string(b.Data)
		}
	}
	for i := range manyReplicas {
		if got, want := lastLine(i), fmt.Sprintf("last of %d\n", i); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if c.opened != manyReplicas {
		t.Errorf("opened %d logs, want %d", c.opened, manyReplicas)
	}
	if Exists(dir) {
		t.Error("logs are archived, want none")
	}
	if got := lastLine(manyReplicas); got != "last\n" || !Exists(dir) {
		t.Errorf("got %q of a restarted container, archived: %v, want its last line from a copy", got, Exists(dir))
	}
}
