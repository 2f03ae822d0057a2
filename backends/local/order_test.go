//go:build unix

package local

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// The combined log has the lines of both streams in the order in which they were written,
// even if they follow fast: a shell writes one every two microseconds.
func TestOrderAcrossStreams(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not report which of two pipes was written first")
	}
	f := newFixture(t)
	id, s := f.run(nil, sh("a", 1, "i=0; while [ $i -lt 1000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done"))
	f.expect(s, spec.Succeeded, 0)
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&want, "out %d\nerr %d\n", i, i)
	}
	if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{}); got != want.String() {
		t.Errorf("the combined log is out of order or incomplete: got %d bytes, want %d", len(got), want.Len())
	}
}

// The log of a replica that floods its output is complete, and each stream is in order,
// also if it alternates between flooding and calm.
func TestFloodIsComplete(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const script = `for round in 1 2 3; do
seq 1 60000; i=0; while [ $i -lt 9000 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; sleep 1.1
done`
	id, s := f.run(nil, sh("a", 2, script))
	f.expect(s, spec.Succeeded, 0)
	var out, err strings.Builder
	for range 3 {
		for i := range 60000 {
			fmt.Fprintln(&out, i+1)
		}
		for i := range 9000 {
			fmt.Fprintln(&out, "out", i)
			fmt.Fprintln(&err, "err", i)
		}
	}
	for n := range 2 {
		r := spec.Replica{Role: "a", ID: n}
		if got := f.log(id, r, backend.LogOptions{Stream: backend.Stdout}); got != out.String() {
			t.Errorf("stdout of replica %d is wrong: got %d bytes, want %d", n, len(got), out.Len())
		}
		if got := f.log(id, r, backend.LogOptions{Stream: backend.Stderr}); got != err.String() {
			t.Errorf("stderr of replica %d is wrong: got %d bytes, want %d", n, len(got), err.Len())
		}
	}
}

// Writes of a replica with non-blocking output do not fail because of small pipes.
func TestNonBlockingOutput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	r := spec.NewRole("a", spec.None)
	r.Entrypoint, r.Args = os.Args[0], []string{"nonblocking"}
	id, s := f.run(nil, r)
	f.expect(s, spec.Succeeded, 0)
	if got := strings.Count(f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{}), "\n"); got != 201 {
		t.Errorf("%d lines, want 201", got)
	}
}

// writeNonBlocking is the replica of TestNonBlockingOutput. It returns the exit code.
func writeNonBlocking() int {
	if err := unix.SetNonblock(1, true); err != nil {
		return 2
	}
	if _, err := unix.Write(1, []byte("first\n")); err != nil {
		return 3
	}
	// After reading the line, the agent has seen the flag and enlarged the pipe.
	for deadline := time.Now().Add(testTimeout / 2); !pipeIsLarge(1); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return 5
		}
	}
	for i := range 200 {
		if _, err := unix.Write(1, fmt.Appendf(nil, "line %d\n", i)); err != nil {
			return 4
		}
	}
	return 0
}
