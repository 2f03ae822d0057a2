package podarchive

import (
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// readTail reads the last line of a replica.
func readTail(t *testing.T, a *App, id int) (text string, err error) {
	t.Helper()
	r, err := a.Open(t.Context(), spec.Replica{Role: worker.Role, ID: id}, backend.LogOptions{Tail: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return text, err
		}
		text += string(b.Data)
	}
}

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
		text, err := readTail(t, a, id)
		if err != nil {
			t.Fatal(err)
		}
		return text
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

// TestTailOfLostNode: the replicas of a node that does not answer are given up together, and those
// that have not started need no request. Both are read without copies.
func TestTailOfLostNode(t *testing.T) {
	t.Parallel()
	const lost, waiting = 40, 20
	c, dir := newCluster(), t.TempDir()
	c.lost = "lost"
	for i := range manyReplicas {
		r := run(fmt.Sprint("u", i), 0)
		r.Replica.ID, r.Node = i, "works"
		switch {
		case i < lost:
			r.Node = c.lost
		case i < lost+waiting:
			r.Node, r.State = "", logcopy.Waiting
		}
		c.add(r, fmt.Sprintf("last of %d\n", i))
	}
	a := newApp(t, c, dir)
	a.outages.node = time.Nanosecond
	for i := range manyReplicas {
		got, err := readTail(t, a, i)
		want := fmt.Sprintf("last of %d\n", i)
		if i < lost+waiting {
			want = ""
		}
		if got != want || (i < lost) != errors.Is(err, ErrNodeAway) {
			t.Errorf("replica %d: got %q, %v, want %q, and an error of the lost node: %v", i, got, err, want, i < lost)
		}
	}
	if c.opened != manyReplicas-lost-waiting || Exists(dir) {
		t.Errorf("got %d logs opened, archived: %v, want %d and none", c.opened, Exists(dir), manyReplicas-lost-waiting)
	}
}
