//go:build unix

package interp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.starlark.net/starlark"

	"torchx/runtime/humanize"
	"torchx/test/long"
)

// greedy are programs that use too many resources, with part of the one-line error. Each program is
// the file x.star.
var greedy = []struct{ name, source, want string }{
	{"endless loop", "def f():\n    for i in range(1 << 40): pass\nf()", "x.star:2:5: the evaluation took more than 1000000 steps"},
	{"endless top-level loop", "for i in range(1 << 40): pass", "x.star:1:1: the evaluation took more than 1000000 steps"},
	{"nested loops", "def f():\n    for i in range(1 << 40):\n        for j in range(1 << 40): i + j\nf()", "more than 1000000 steps"},
	{"endless comprehension", "x = [i for i in range(1 << 40)]", "x.star:1:"},
	{"endless filter", "x = [i for i in range(1 << 40) if i < 0]", "x.star:1:"},
	{"string *", `x = "x" * (1 << 30)`, "x.star:1:9: * would make a value of 1 GiB, over the limit of 64 MiB"},
	{"int * string", `x = (1 << 30) * "x"`, "x.star:1:15: * would make a value of 1 GiB"},
	{"bytes *", `x = b"x" * (1 << 29)`, "* would make a value of 512 MiB"},
	{"list *", `x = [0] * 200000000`, "x.star:1:9: * would make a value of 3 GiB"},
	{"tuple *", `x = (0,) * 200000000`, "x.star:1:10: * would make a value of 3 GiB"},
	{"*=", "def f():\n    s = 'x'\n    s *= 1 << 30\nf()", "x.star:3:7: * would make a value of 1 GiB"},
	{"[]*=", "def f():\n    s = ['x']\n    s[0] *= 1 << 30\nf()", "x.star:3:10: * would make a value of 1 GiB"},
	{"string doubling", "def f():\n    s = 'x'\n    for i in range(100): s = s + s\nf()", "x.star:3:32: + would make a value of 128 MiB"},
	{"string +=", "def f():\n    s = 'x'\n    for i in range(100): s += s\nf()", "x.star:3:28: + would make a value of 128 MiB"},
	{"element +=", "def f():\n    d = {'k': 'x'}\n    for i in range(100): d['k'] += d['k']\nf()", "x.star:3:33: + would make a value of 128 MiB"},
	{"list doubling", "def f():\n    l = [0]\n    for i in range(100): l = l + l\nf()", "x.star:3:32: + would make a value of 128 MiB"},
	{"list +=", "def f():\n    l = [0]\n    for i in range(100): l += l\nf()", "x.star:3:28: += would make a value of 128 MiB"},
	{"list += range", "def f():\n    l = [0]\n    l += range(1 << 40)\nf()", "x.star:3:7: += would walk a range of 1099511627776 items in one step, over the limit of 4194304"},
	{"list.extend", "def f():\n    l = [0]\n    for i in range(100): l.extend(l)\nf()", "x.star:3:34: extend would make a value of 128 MiB"},
	{"extend range", "[].extend(range(1 << 40))", "x.star:1:10: extend would walk a range"},
	{"getattr extend", "getattr([], 'extend')(range(1 << 40))", "extend would walk a range"},
	{"tuple doubling", "def f():\n    l = (0,)\n    for i in range(100): l += l\nf()", "+ would make a value of 128 MiB"},
	{"tuple of tuples", "t = ()\nl = [t]\nfor i in range(60): l[0] = (l[0], l[0])", "the global l has more than 1048576 parts"},
	{"deep list", "l = [0]\nfor i in range(20000): l[0] = [l[0]]", "x.star: the global l is nested deeper than 1000 levels"},
	{"list(range)", "x = list(range(1 << 40))", "x.star:1:9: list would walk a range of 1099511627776 items in one step, over the limit of 4194304"},
	{"max(range)", "x = max(range(1 << 40))", "x.star:1:8: max would walk a range of 1099511627776 items"},
	{"min(range)", "x = min(range(1 << 40))", "min would walk a range"},
	{"sorted(range)", "x = sorted(range(1 << 40))", "sorted would walk a range"},
	{"sorted(iterable=)", "x = sorted(iterable=range(1 << 40))", "sorted would walk a range"},
	{"reversed(range)", "x = reversed(range(1 << 40))", "reversed would walk a range"},
	{"tuple(range)", "x = tuple(range(1 << 40))", "tuple would walk a range"},
	{"set(range)", "x = set(range(1 << 40))", "set would walk a range of 1099511627776 items in one step, over the limit of 524288"},
	{"dict(range)", "x = dict(range(1 << 40))", "dict would walk a range"},
	{"bytes(range)", "x = bytes(range(1 << 40))", "bytes would walk a range"},
	{"enumerate(range)", "x = enumerate(range(1 << 40))", "enumerate would walk a range"},
	{"zip(range)", "x = zip(range(1 << 40), range(1 << 41))", "zip would walk a range of 1099511627776 items"},
	{"all(range)", "x = all(range(1, 1 << 40))", "all would walk a range"},
	{"any", "x = any([0] * 4000000)\ny = any(range(1 << 40))", "x.star:2:8: any would walk a range"},
	{"*args", "def f(*a): pass\nf(*range(1 << 40))", "x.star:2:3: a call with *args would walk a range"},
	{"print(*range)", "print(*range(1 << 40))", "a call with *args would walk a range"},
	{"update(range)", "{}.update(range(1 << 40))", "update would walk a range"},
	{"set methods", "set([1]).union(range(1 << 40))", "union would walk a range"},
	{"issubset", "set([1]).issubset(range(1 << 40))", "issubset would walk a range"},
	{"join(range)", "x = ','.join(range(1 << 40))", "join would walk a range"},
	{"codepoints", "x = list(('ä' * (1 << 24)).codepoints())", "list would walk a string.codepoints of more than 4194304 items"},
	{"elems", "x = list(('a' * (1 << 24)).elems())", "list would walk a string.elems of 16777216 items"},
	{"replace", `x = ("b" * (1 << 24)).replace("b", "c" * (1 << 24))`, "x.star:1:30: replace would make a value of 256 TiB"},
	{"replace empty", `x = ("b" * (1 << 24)).replace("", "c" * (1 << 24))`, "replace would make a value of 256 TiB"},
	{"bound replace", "r = ('b' * (1 << 24)).replace\nx = r('b', 'c' * (1 << 24))", "x.star:2:6: replace would make"},
	{"join", `x = ("b" * (1 << 24)).join(["a"] * 1000)`, "join would make a value of 15.6 GiB"},
	{"format", `x = ("{0}" * 1000).format("a" * (1 << 24))`, "format would make a value of 15.6 GiB"},
	{"%", `x = "%s%s%s%s%s" % (("a" * (1 << 24),) * 5)`, "x.star:1:18: % would make a value of 80 MiB"},
	{"%(k)s", `x = ("%(k)s" * 1000) % {"k": "a" * (1 << 20)}`, "% would make a value of"},
	{"split", `x = (",," * (1 << 24)).split(",")`, "split would make a value of 1.5 GiB"},
	{"split()", `x = ("a " * (1 << 24)).split()`, "split would make a value of 768 MiB"},
	{"rsplit maxsplit", `x = "a".rsplit(None, 1 << 40)`, "rsplit would make a value of 16 TiB"},
	{"splitlines", `x = ("\n" * (1 << 24)).splitlines()`, "splitlines would make a value of 768 MiB"},
	{"str", "l = [['x' * (1 << 20)] * 1000]\nx = str(l)", "x.star:2:8: str would make a value of 64"},
	{"str of shared lists", "def f():\n    l = [0]\n    for i in range(60): l = [l, l]\n    return str(l)\nx = f()", "x.star:4:15: str would print a value of more than 1048576 parts"},
	{"str of a deep list", "def f():\n    l = [0]\n    for i in range(100000): l = [l]\n    return str(l)\nx = f()", "x.star:4:15: str would print a value that is nested too deep"},
	{"repr", "x = repr(['x' * (1 << 24)] * 9)", "repr would make a value of"},
	{"print", "print(['x' * (1 << 24)] * 9)", "print would make a value of"},
	{"print sep", "print(*[''] * 1000, sep='x' * (1 << 24))", ""},
	{"fail", "fail(['x' * (1 << 24)] * 9)", "fail would make a value of"},
	{"squaring", "def f():\n    n = 10\n    for i in range(100): n = n * n\nf()", "x.star:3:32: * would make a number of more than 1048576 bits"},
	{"shift", "x = 1 << (1 << 40)", "x.star:1:7: "},
	{"shifting", "def f():\n    n = 1\n    for i in range(1 << 30): n <<= 511\nf()", "x.star:3:32: << would make a number of more than 1048576 bits"},
	{"int()", "x = int('9' * 10000000)", "int would read 10000000 digits"},
	{"dict growth", "d = {}\nfor i in range(1 << 40): d[i] = [i] * 1000", "x.star:2:"},
	{"list of lists", "l = []\nfor i in range(1 << 40): l.append([0] * 1000000)", "x.star:2:"},
	{"list of strings", "l = []\ns = 'a' * (1 << 24)\nfor i in range(1 << 40): l.append(s.upper())", "x.star:3:"},
	{"list of slices", "l = []\ns = [0] * (1 << 20)\nfor i in range(1 << 40): l.append(s[1:])", "x.star:3:"},
	{"dict union", "l = [{i: i for i in range(1000)}]\nfor i in range(1 << 40): l.append(l[0] | {i: 1})", "x.star:2:"},
	{"list of dicts", "l = []\nfor i in range(1 << 40): l.append({1: {}, 2: {}, 3: {}, 4: {}, 5: {}, 6: {}, 7: {}})", "x.star:2:"},
	{"== of shared lists", "def f():\n    l, m = [0], [0]\n    for i in range(9): l, m = [l] * 1000, [m] * 1000\n    return l == m\nx = f()", "x.star:4:14: == would compare more than 1048576 items"},
	{"in shared lists", "def f():\n    l, m = [0], [0]\n    for i in range(9): l, m = [l] * 1000, [m] * 1000\n    return l in [m]\nx = f()", "x.star:4:14: in would compare more than 1048576 items"},
	{"recursion", "def f(): f()\nf()", "x.star:1:10: function f called recursively"},
	{"recursion by lambda", "f = lambda g: g(g)\nf(f)", "function lambda called recursively"},
	{"quadratic insert", "l = [0] * 4000000\nfor i in range(1 << 40): l.insert(0, i)", "x.star:2:"},
	// Steps that no guard bounds: the watchdog exits the process.
	{"hash of shared tuples", "def f():\n    t = (0,)\n    for i in range(60): t = (t, t)\n    return {t: 1}\nx = f()", "the evaluation took longer than 4s"},
	{"slow function", "slow()", "the evaluation took longer than 4s"},
	{"hungry function", "hungry()", "the evaluation needs more than 768 MiB of memory"},
}

const guardCase = "TORCHX_TEST_GUARD_CASE" // set in the child process, which evaluates this program and exits

func TestMain(m *testing.M) {
	if source, ok := os.LookupEnv(guardCase); ok {
		os.Exit(evaluateGreedy(source))
	}
	if work, ok := os.LookupEnv(processCase); ok {
		os.Exit(underProcessGuard(work))
	}
	os.Exit(m.Run())
}

// evaluateGreedy runs in the child and prints the error like the command does.
func evaluateGreedy(source string) int {
	c := Config{
		Timeout:     childTimeout(source),
		Builtins:    mapFS(map[string]string{"x.star": source}),
		Predeclared: starlark.StringDict{"slow": starlark.NewBuiltin("slow", slow), "hungry": starlark.NewBuiltin("hungry", hungry)},
		Fatal: func(err error) {
			fmt.Println(err)
			os.Exit(1)
		},
	}
	if _, err := New(c).LoadBuiltin(context.Background(), "x.star"); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// childTimeout returns the default for cases that may end by the timeout, and a longer one where another
// limit must be reached first, also on a busy machine.
func childTimeout(source string) time.Duration {
	for _, c := range greedy {
		if c.source == source && c.want != "" && !strings.HasSuffix(c.want, ":") && !strings.Contains(c.want, "took longer") {
			return 40 * time.Second
		}
	}
	return 0
}

// slow is a predeclared function that does not end.
func slow(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	select {}
}

// hungry is a predeclared function that allocates memory without end.
func hungry(*starlark.Thread, *starlark.Builtin, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	var all [][]byte
	for {
		all = append(all, make([]byte, 1<<20))
		clear(all[len(all)-1])
		runtime.Gosched()
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range greedy {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if slices.Contains([]string{"slow function", "quadratic insert", "hash of shared tuples", "list of strings", "list of slices", "list of lists", "dict growth"}, c.name) {
				long.Test(t) // until a limit of time or memory
			}
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), guardCase+"="+c.source)
			begin := time.Now()
			out, err := cmd.CombinedOutput()
			took := time.Since(begin)
			usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok {
				t.Fatal("no resource usage")
			}
			rss := usage.Maxrss << 10
			if runtime.GOOS == "darwin" {
				rss >>= 10 // bytes there
			}
			t.Logf("%s, %s: %.200s", took.Round(time.Millisecond), humanize.RoundBytes(uint64(rss)), out)
			if took > time.Minute || rss > 2<<30 && !raceEnabled {
				t.Errorf("got %s and %s, want a stop within the limits", took, humanize.RoundBytes(uint64(rss)))
			}
			if c.want == "" {
				return
			}
			if err == nil || cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("got exit %v, want code 1", err)
			}
			slowed := raceEnabled && strings.Contains(string(out), "took longer than")
			if n := strings.Count(string(out), "\n"); n != 1 || !strings.Contains(string(out), "x.star") || !slowed && !strings.Contains(string(out), c.want) {
				t.Errorf("%d lines, want one with %q:\n%.2000s", n, c.want, out)
			}
		})
	}
}

const processCase = "TORCHX_TEST_PROCESS_CASE" // set in the child process, which does this under GuardProcess and exits

// underProcessGuard runs in the child and works outside of any evaluation.
func underProcessGuard(work string) int {
	limit := uint64(64 << 20)
	if work == "garbage" {
		limit = 512 << 20 // on a busy machine, garbage is collected late
	}
	GuardProcess(limit, func(err error) {
		fmt.Println(err)
		os.Exit(1)
	})
	if work == "hungry" {
		_, _ = hungry(nil, nil, nil, nil)
	}
	for range 1 << 11 { // 2 GiB of garbage
		clear(make([]byte, 1<<20))
	}
	return 0
}

// TestGuardProcess checks that memory in use ends the process with one line, and garbage does not.
func TestGuardProcess(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for work, want := range map[string]string{
		"hungry":  "this command needs more than 64 MiB of memory and was stopped: an app, a plan or a file that it reads is too large\n",
		"garbage": "",
	} {
		t.Run(work, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), processCase+"="+work)
			out, err := cmd.CombinedOutput()
			if string(out) != want || (err == nil) != (want == "") {
				t.Errorf("got %q, %v, want %q", out, err, want)
			}
		})
	}
}
