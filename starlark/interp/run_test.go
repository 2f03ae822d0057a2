package interp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.starlark.net/starlark"
)

const ordinary = `
"""A component like those that people write."""
load("./util.star", "replicas")

def component(*args, script, image = "img", j = "1x2", env = {}, name = "job"):
    """Runs a script.

    Args:
        script (str): what to run
        image (str): where
    """
    nodes, procs = replicas(j)
    roles = []
    for n in range(nodes):
        all_env = dict(env)
        all_env["RANK"] = str(n)
        all_env.update({"K%d" % k: "v" + str(k) for k in range(20)})
        roles.append({
            "name": name + "-" + str(n),
            "args": ["-m", script] + list(args) + ["--%s=%s" % (k, v) for k, v in sorted(all_env.items())],
            "image": image,
            "num_replicas": procs * nodes,
        })
    return {"name": name, "roles": roles}

x = component("a", "b", script = "train.py", j = "4x8")
`

const util = `
def replicas(j):
    parts = j.split("x")
    if len(parts) != 2:
        fail("invalid format for -j: " + j)
    return int(parts[0]), int(parts[1])
`

func ordinaryFiles() Config {
	return Config{Builtins: mapFS(map[string]string{"x.star": ordinary, "util.star": util})}
}

func BenchmarkOrdinaryComponent(b *testing.B) {
	c := ordinaryFiles()
	for b.Loop() {
		if _, err := New(c).LoadBuiltin(context.Background(), "x.star"); err != nil {
			b.Fatal(err)
		}
	}
}

// TestWatchdogEnds checks that the goroutines of a run end with it: synctest waits for them.
func TestWatchdogEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		if _, err := New(ordinaryFiles()).LoadBuiltin(context.Background(), "x.star"); err != nil {
			t.Fatal(err)
		}
	})
}

func TestMemoryIsCheckedBetweenSteps(t *testing.T) {
	t.Parallel()
	c := Config{MaxHeap: 1, Timeout: time.Minute, Builtins: mapFS(map[string]string{"x.star": "x = 1\ny = 'a' * (1 << 25)"})}
	i := New(c)
	r := i.newRun(context.Background(), "x.star") // not watched: the watcher may be first
	_, err := r.load(&Source{i.builtins, "x.star"})
	err = r.report(err)
	wantError(t, err, "@torchx//x.star:2:9: the evaluation needs more than 1 bytes of memory")
	var limit *LimitError
	if !errors.As(err, &limit) || limit.Limit != "memory" || !strings.HasPrefix(limit.At, "@torchx//x.star:2:9") {
		t.Errorf("got limit %+v, want memory at @torchx//x.star:2:9", limit)
	}
}

func TestTimeout(t *testing.T) {
	t.Parallel()
	c := Config{MaxSteps: 1 << 60, Timeout: 20 * time.Millisecond, Builtins: mapFS(map[string]string{"x.star": "for i in range(1 << 50): pass"})}
	c.Fatal = func(err error) { t.Errorf("got fatal %v, want none", err) }
	_, err := New(c).LoadBuiltin(context.Background(), "x.star")
	wantError(t, err, "@torchx//x.star:1:", "the evaluation took longer than 20ms and was stopped")
}

func TestPrint(t *testing.T) {
	t.Parallel()
	var got []string
	c := Config{Builtins: mapFS(map[string]string{"x.star": "print('a', 1, sep='-')\nprint()"}), Print: func(s string) { got = append(got, s) }}
	if _, err := New(c).LoadBuiltin(context.Background(), "x.star"); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%q", got) != `["a-1" ""]` {
		t.Errorf("got printed %q, want a-1 and an empty line", got)
	}
}

// TestUseOfAResultIsLimited checks that the use of a result is under the deadline of the call.
func TestUseOfAResultIsLimited(t *testing.T) {
	t.Parallel()
	m, err := eval(t, "def f(): return 1")
	if err != nil {
		t.Fatal(err)
	}
	f := function(t, m, "f")
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		i := New(Config{Fatal: func(err error) { ended <- err }})
		err := i.CallFor(t.Context(), f, nil, nil, func(starlark.Value) error { return <-ended })
		wantError(t, err, "took longer than 4s")
	})
}
