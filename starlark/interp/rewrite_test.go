package interp

import (
	"fmt"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// semantics are programs whose global x must be the same with and without guards.
var semantics = []string{
	`x = 1 + 2 * 3 << 2 | 1`,
	`x = "a" + "b" + str(1) + "c" * 3 + 2 * "d"`,
	`x = [1] + [2] * 2 + list((3,)) + [4]`,
	`x = (1,) + (2,) * 3`,
	`x = b"ab" * 2 + b"c"`,
	`x = "%s-%d-%r %%" % ("a", 3, "b") + "%s" % 7 + "%(k)s%(k)s" % {"k": [1]}`,
	`x = 7 % 3 + 2.5 % 2`,
	`x = [1 < 2, [1] == [1], "a" in "abc", 3 not in [1, 2], (1, 2) < (1, 3), {"a": 1} == {"a": 1.0}, "k" in {"k": 1}]`,
	`x = {"a": 1} | {"b": 2}`,
	`x = sorted(list(set([1, 2]) | set([2, 3]) & set([3]) ^ set([9]) - set([9])))`,
	"def f():\n    a = [1]\n    b = a\n    a += [2]\n    a += (3,)\n    a += range(2)\n    return (a, b)\nx = f()",
	"def f():\n    a = {'k': [1]}\n    b = a['k']\n    a['k'] += [2]\n    a['k'] *= 2\n    return (a, b)\nx = f()",
	"def f():\n    a = [3, 'x', 1]\n    a[0] <<= 2\n    a[-2] *= 3\n    a[1] += 'y'\n    a[2] -= 5\n    return a\nx = f()",
	"def f():\n    a = {'k': 1}\n    b = a\n    a |= {'l': 2}\n    return (a, b)\nx = f()",
	"def f():\n    s = 'a%s'\n    s %= 'b'\n    s *= 2\n    n = 3\n    n *= n\n    n += 1\n    return (s, n)\nx = f()",
	// Each side is evaluated once, in order.
	"def f():\n    log = []\n    def t(v):\n        log.append(v)\n        return v\n    d = {1: [2]}\n    def g():\n        log.append('g')\n        return d\n    g()[t(1)] += [t(3)]\n    t('a') + t('b')\n    t(2) * t(4)\n    return (log, d)\nx = f()",
	// A nested assignment inside the right side keeps its own target.
	"def f():\n    a = [[1], [2]]\n    def g():\n        b = {'q': [7]}\n        b['q'] += [8]\n        return b['q']\n    a[0] += g()\n    return a\nx = f()",
	`x = "a,b,c".split(",") + "a b".split() + "a b c".rsplit(" ", 1) + "a\nb".splitlines()`,
	`x = "-".join(["a", "b"]) + "aXbX".replace("X", "yy") + "aXbX".replace("X", "", 1) + "{} {k} {{}}".format(1, k=[2])`,
	`x = ["aB".upper(), "aB".lower(), "aB".title(), "aB".capitalize()]`,
	"f = 'a-b'.replace\nx = f('-', '+') + getattr('q', 'join')(['1', '2']) + getattr('q', 'nope', 'z')",
	"d = {'a': 1, 'b': 2}\nx = [d.items(), d.keys(), d.values()]",
	"def f():\n    l = [1]\n    l.extend([2])\n    d = {}\n    d.update([('a', 1)], b=2)\n    s = set([1])\n    s.update([2], [3])\n    return (l, d, s, s.union([4]), s.difference([1]), s.intersection([1]), s.issubset([1, 2, 3]))\nx = f()",
	"def f(*a, **k):\n    return (a, k)\nx = f(1, k=4, *[2, 3], **{'l': 5})",
	"def f(a=1 + 1, *, b='x' * 2):\n    return (a, b)\nx = [f(), (lambda q=[1] * 2: q)()]",
	"x = [a + b for a in range(2) for b in [x * 2 for x in range(3)] if a * b == b]",
	"x = {k + 'z': v * 2 for k, v in {'a': 1}.items()}",
	"l = list(range(10))\nx = [l[1:3], l[::-1], 'abc'[1:], (1, 2, 3)[:2], l[-1]]",
	"x = [min(3, 1), max([1, 5, 2]), max('a', 'b'), any([0, 1]), all([]), sorted([2, 1], reverse=True), sorted(['bb', 'a'], key=len)]",
	"x = [list(reversed([1, 2])), enumerate(['a'], 1), zip([1, 2], range(1 << 40)), tuple('ab'.elems()), dict([('a', 1)], b=2), bytes([65])]",
	"x = [str([1, 'a']), repr('a'), int('12'), int('ff', 16), int(3.7), hash('a'), type({}.update), str({}.update)]",
	"x = 1 if 1 + 1 == 2 else 2 * 3",
	"(a, [b]) = (1 + 1, ['q' * 2])\nx = (a, b)",
	"x = ('a' + 'b' + 'c') if not False else -1",
}

func TestGuardsKeepSemantics(t *testing.T) {
	t.Parallel()
	for n, source := range semantics {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			want, err := starlark.ExecFileOptions(dialect(), &starlark.Thread{}, "x.star", source, nil)
			if err != nil {
				t.Fatalf("plain: %v", err)
			}
			if got := global(t, source); got != want["x"].String() {
				t.Errorf("%s\n got %s\nwant %s", source, got, want["x"])
			}
		})
	}
}

// TestGuardsKeepErrors checks that errors have the same text and position with and without guards.
func TestGuardsKeepErrors(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		`x = 1 + "a"`,
		"def f(a):\n    return a  *  {}\nf(1)",
		"def f(a):\n    a += 1\nf('s')",
		"def f(a):\n    a += [2]\nq = [1]\nfor i in q: f(q)",
		"def f():\n    y += [1]\n    y = 2\nf()",
		"def f(a):\n    a['k'] += 1\nf({})",
		"def f(a):\n    a.k += 1\nf([])",
		`x = [] < 3`,
		`x = 3 in 4`,
		`x = "a".jion([])`,
		`x = "a".join(3)`,
		`x = "a".join([3])`,
		`x = "a".replace("b")`,
		`x = "%d" % "a"`,
		`x = "{}".format()`,
		`x = 1 << -1`,
		`x = 1 << 600`,
		`x = list(3)`,
		`x = sorted([1, "a"])`,
		`x = max([])`,
		`x = len(*3)`,
		`x = len(**3)`,
		`x = [1][2:"a"]`,
		`x = {}["k"]`,
		`x = getattr(1, "k")`,
		`x = int("z")`,
		`x = fail("a", 2)`,
		`x = zip(1)`,
	} {
		t.Run(source, func(t *testing.T) {
			t.Parallel()
			_, err := starlark.ExecFileOptions(dialect(), &starlark.Thread{}, "@torchx//x.star", source, nil)
			var want *starlark.EvalError
			if want = innermost(err); want == nil {
				t.Fatalf("plain: %v", err)
			}
			_, err = eval(t, source)
			wantError(t, err, fmt.Sprint(framesOf(want.CallStack)[0].Pos)+": ", oneLine(want.Msg))
		})
	}
}

func TestModuleSyntaxIsAsWritten(t *testing.T) {
	t.Parallel()
	m, err := eval(t, "# about\nx = 'a' * 2 # suffix\n")
	if err != nil {
		t.Fatal(err)
	}
	s := m.Syntax().Stmts[0].(*syntax.AssignStmt)
	if _, ok := s.RHS.(*syntax.BinaryExpr); !ok {
		t.Errorf("right side is a %T", s.RHS)
	}
	if c := s.Comments(); c == nil || len(c.Before) != 1 || c.Before[0].Text != "# about" {
		t.Errorf("got comments %+v, want # about", c)
	}
}
