//go:build unix

package local

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/openfiles"
)

// The log has exactly the bytes that a replica wrote.
func TestNastyOutput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, script, want string }{
		{"nothing", "true", ""},
		{"no newline", "printf end", "end"},
		{"one newline", "echo", "\n"},
		{"only carriage returns", `for i in 1 2 3; do printf '%s%%\r' $i; done`, "1%\r2%\r3%\r"},
		{"progress bar", `printf 'a\r'; printf 'ab\r\n'; printf 'done\n'`, "a\rab\r\ndone\n"},
		{"invalid UTF-8", `printf '\377\376\300\200\n\355\240\200\n'`, "\xff\xfe\xc0\x80\n\xed\xa0\x80\n"},
		{"NUL bytes and escapes", `printf 'a\0b\033[2Jc\n'`, "a\x00b\x1b[2Jc\n"},
		{"a line of 10 MB", `head -c 10485760 /dev/zero | tr '\0' x; echo`, strings.Repeat("x", 10<<20) + "\n"},
		{"after its parent's end", `(trap "" TERM; echo up > up; while kill -0 $$ 2>/dev/null; do sleep 0.01; done; sleep 0.1; echo late) &
			while ! test -s up; do sleep 0.01; done; echo early`, "early\nlate\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			id, s := f.run(nil, sh("a", 1, test.script))
			f.expect(s, spec.Succeeded, 0)
			got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{Stream: backend.Stdout})
			if got != test.want {
				t.Errorf("got a log of %d bytes, want %d; it starts with %.40q", len(got), len(test.want), got)
			}
		})
	}
}

// A replica may close its output and continue.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	done := f.TempDir() + "/done"
	id, s := f.run(nil, sh("a", 1, "echo before; exec >&- 2>&-; echo lost; echo up > \""+done+"\"; exit 3"))
	f.expect(s, spec.Failed, 3)
	if got := f.log(id, spec.Replica{Role: "a"}, backend.LogOptions{}); got != "before\n" {
		t.Errorf("got log %q, want the line before it closed its output", got)
	}
	if _, err := os.Stat(done); err != nil {
		t.Errorf("the replica did not continue: %v", err)
	}
}

// An app with hundreds of replicas has all results and the right log for each.
func TestManyReplicas(t *testing.T) {
	t.Parallel()
	replicas := openfiles.AtMost(t, 300, 9)
	f := newFixture(t)
	id, s := f.run(nil, sh("a", replicas, "echo out ${replica_id}; echo err >&2"))
	f.expect(s, spec.Succeeded, 0)
	for n := range replicas {
		want := fmt.Sprintf("out %d\nerr\n", n)
		r := spec.Replica{Role: "a", ID: n}
		if got := f.log(id, r, backend.LogOptions{}); got != want {
			t.Errorf("log of replica %d is %q, want %q", n, got, want)
		}
		if rs := s.Replica(r); rs == nil || rs.State != spec.Succeeded {
			t.Errorf("replica %d: %+v", n, rs)
		}
	}
}
