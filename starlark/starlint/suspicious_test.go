package starlint_test

import (
	"slices"
	"strings"
	"testing"

	"torchx/starlark/starlint"
)

// suspicious are files and what buildifier finds in them, in the form of cases, by its rules that
// starlint has.
var suspicious = []struct{ name, src, want string }{
	{"confusing names of functions, parameters and loops", `def l(O, I = 1, *args):
    for l, (x, _y) in O:
        l, O[0] = [l for l in args if x], I
    return lambda l: l
`, `
1:1-4:23 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
1:7-1:8 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
1:10-1:15 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
2:9-2:10 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
2:9-2:10 unused-variable: variable "l" is unused
3:9-3:10 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
3:26-3:27 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
`},
	{"confusing names in a file", `for I in [1]:
    if I:
        l = I

def _f(x):
    def O(l):
        return l

    return O(x)

X = [_f(l) for l, I in [(1, 2)] if I]
`, `
1:5-1:6 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
3:9-3:10 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
6:5-7:17 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
6:11-6:12 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
11:16-11:17 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
11:19-11:20 confusing-name: never use 'l', 'I', or 'O' as names (they're too easily confused with 'I', 'l', or '0')
`},
	{"defaults of methods of dicts", `X = {}
Y = X.get("a", default = 1)
Z = dict().pop("a", default = 1) or {a: 1 for a in "a".elems()}.setdefault("a", default = 1)

def _f(d = {}):
    return d.get("a", default = 1), X.keys(default = 1), (d | X).pop("b", default = 2)

V = [_f(), [].pop(default = 1), X.get("a", other = 1), _f().get("a", default = 1)]
`, `
2:16-2:27 dict-method-named-arg: named argument "default" not allowed, use a positional (unnamed) argument
3:21-3:32 dict-method-named-arg: named argument "default" not allowed, use a positional (unnamed) argument
3:81-3:92 dict-method-named-arg: named argument "default" not allowed, use a positional (unnamed) argument
6:23-6:34 dict-method-named-arg: named argument "default" not allowed, use a positional (unnamed) argument
6:75-6:86 dict-method-named-arg: named argument "default" not allowed, use a positional (unnamed) argument
`},
	{"docstrings of functions", `def _a():
    "One line"

def _b():
    # comment
    """

    Summary.

    More.
    """

def _c():
    """Two
    lines."""

    def d():
        """   """

    d()

def _e():
    _a()
    """Not
    first."""

X = [_a, _b, _c, _e]
`, `
14:5-15:14 docstring-header: the docstring for the function "_c" should start with a one-line summary
18:9-18:18 docstring-header: the docstring for the function "d" should start with a one-line summary
24:5-25:14 no-effect: expression result is not used
`},
	{"appends in an attribute and a call", `def _f(x, y):
    x += [y, y]
    x = x + [y]
    x += [a for a in y]
    x -= [y]
    if y:
        x += [y] # comment
    y(x = [1])
    return x

X = _f([], 1)
`, `
7:9-7:17 list-append: prefer using ".append()" to adding a single element list
`},
	{"statements without effect", `"""Docstring."""
"text"
1
[print(x) for x in [1]]
{x: 1 for x in [1]}

def _f(x):
    # comment
    """Docstring."""
    x
    -x, 1
    [x]
    (fail("a"))
    pass
    x.y
    x[0]
    "text"
    [print(y) for y in x]
    lambda: x
    for a in x:
        "text"
        a < 1
    if x:
        "text"
    else:
        x or fail()
    x.y = 1

X = _f
`, `
2:1-2:7 no-effect: expression result is not used
3:1-3:2 no-effect: expression result is not used
5:1-5:20 no-effect: expression result is not used
10:5-10:6 no-effect: expression result is not used
11:5-11:10 no-effect: expression result is not used
12:5-12:8 no-effect: expression result is not used
13:5-13:16 no-effect: expression result is not used
15:5-15:8 no-effect: expression result is not used
16:5-16:9 no-effect: expression result is not used
17:5-17:11 no-effect: expression result is not used
18:5-18:26 no-effect: expression result is not used
19:5-19:14 no-effect: expression result is not used
21:9-21:15 no-effect: expression result is not used
22:9-22:14 no-effect: expression result is not used
24:9-24:15 no-effect: expression result is not used
26:9-26:20 no-effect: expression result is not used
`},
	{"return values", `def _a(x):
    for y in x:
        return y

def _b(x):
    if x:
        return 1
    elif not x:
        fail("no")
    else:
        return

def _c(x):
    if x:
        return 1
    else:
        fail("no")

def _d(x):
    def e():
        return 1

    e(x)
    return

def _f(x):
    if x:
        return None
    x.fail()

X = [_a, _b, _c, _d, _f]
`, `
1:1-3:17 return-value: some but not all execution paths of "_a" return a value
11:9-11:15 return-value: some but not all execution paths of "_b" return a value
26:1-29:13 return-value: some but not all execution paths of "_f" return a value
`},
	{"statements that are never reached", `def _f(x):
    for y in x:
        if y:
            continue
            x()
        else:
            break

        # comment
        y()
        y()
    if x:
        return
    elif x.y:
        fail("no")
    else:
        return

    # comment
    if x:
        return
        x()

def _g(x):
    def h():
        return x
        x()

    h()
    for y in x:
        return y
    return x.z[0], 1
    x.fail()

X = [_f, _g]
`, `
5:13-5:16 unreachable: the statement is unreachable
10:9-10:12 unreachable: the statement is unreachable
20:5-22:12 unreachable: the statement is unreachable
27:9-27:12 unreachable: the statement is unreachable
33:5-33:13 unreachable: the statement is unreachable
`},
	{"strings that are iterated", `S = "abc"
N = 1

def _f(p = "x", q = 1, *args):
    for a in S:
        p += a
    for b in p + q:
        q = all(S)
    for c in [q, S]:
        q = any(c), min(S), max(S, S), zip(args, S, "%s" % q), zip(S = S)
    for d in str(q):
        q = "%d" + d
    for e in q:
        args(e, q = 1)
    for g in (q):
        args(g)
    for h in len(q) % 2:
        args(h)
    for i in q == "a":
        args(i)
    for j in S[1:]:
        args(j)
    return reversed("abc"), [k for k in 2 * "a" for m in S if k == m], None + S

X = [_f(S = 1), zip(N)]
`, `
5:14-5:15 string-iteration: string iteration is deprecated
7:9-7:10 unused-variable: variable "b" is unused
7:14-7:19 string-iteration: string iteration is deprecated
8:17-8:18 string-iteration: string iteration is deprecated
10:25-10:26 string-iteration: string iteration is deprecated
10:50-10:51 string-iteration: string iteration is deprecated
10:53-10:61 string-iteration: string iteration is deprecated
11:14-11:20 string-iteration: string iteration is deprecated
13:14-13:15 string-iteration: string iteration is deprecated
15:14-15:17 string-iteration: string iteration is deprecated
23:21-23:26 string-iteration: string iteration is deprecated
23:58-23:59 string-iteration: string iteration is deprecated
`},
	{"variables without a value", `def _f(x, y = 1):
    if x:
        a = 1
    elif y:
        a = 2
    else:
        fail(b)
    if a:
        b = 1
    for c in x:
        d = c
        if c:
            e = 1
            continue
        else:
            e = 2
        x(e, d, a = b)
    x.z, g = c, d
    g += 1
    if x:
        h = 1
    else:
        return h
    x[i] = [j for j in b if h and e], lambda k: [k, e]
    i = x(h = 1)

    def inner(m = b, x = i, n = 1):
        if n:
            b = m
        return b, x, o

    o = inner()
    if o:
        p, (q, r) = x
    return b, [p for p in q], {r: y}

X = _f(1)
`, `
17:21-17:22 uninitialized: variable "b" may not have been initialized
18:10-18:11 unused-variable: variable "g" is unused
18:14-18:15 uninitialized: variable "c" may not have been initialized
18:17-18:18 uninitialized: variable "d" may not have been initialized
23:16-23:17 uninitialized: variable "h" may not have been initialized
24:7-24:8 uninitialized: variable "i" may not have been initialized
24:24-24:25 uninitialized: variable "b" may not have been initialized
24:35-24:36 uninitialized: variable "e" may not have been initialized
24:53-24:54 uninitialized: variable "e" may not have been initialized
27:19-27:20 uninitialized: variable "b" may not have been initialized
30:16-30:17 uninitialized: variable "b" may not have been initialized
34:9-34:10 unused-variable: variable "p" is unused
35:12-35:13 uninitialized: variable "b" may not have been initialized
35:27-35:28 uninitialized: variable "q" may not have been initialized
35:32-35:33 uninitialized: variable "r" may not have been initialized
`},
	{"unused variables", `G = 1
_h, _i = 1, 2

def _f(a, _b, name, c = G, *d, **e):
    f, _g = a
    _j, _k = a
    for m, _n in a:
        o = [m for m in a]
    p = lambda o: o
    q = lambda r = p: r
    a(q = 1, s = 2)
    s += 1
    t = 1 # @unused

    # @UNUSED because
    u = 1
    _ = 1
    v[0], w.x = 1, 2
    for y in a: # @unused
        pass

    def used(v):
        v = v + w

        def b(f):
            return f, v

        return b

    def unused(
            x, # @unused
            z):
        return used

    # @unused
    def marked():
        s = 1
        return [s for s in a]
`, `
2:1-2:3 unused-variable: variable "_h" is unused
2:5-2:7 unused-variable: variable "_i" is unused
4:1-38:30 unused-variable: function "_f" is unused
4:21-4:22 unused-variable: variable "c" is unused
4:29-4:30 unused-variable: variable "d" is unused
4:34-4:35 unused-variable: variable "e" is unused
5:5-5:6 unused-variable: variable "f" is unused
6:5-6:7 unused-variable: variable "_j" is unused
6:9-6:11 unused-variable: variable "_k" is unused
7:9-7:10 unused-variable: variable "m" is unused
8:9-8:10 unused-variable: variable "o" is unused
10:5-10:6 unused-variable: variable "q" is unused
12:5-12:6 unused-variable: variable "s" is unused
19:9-19:10 unused-variable: variable "y" is unused
30:5-33:20 unused-variable: function "unused" is unused
32:13-32:14 unused-variable: variable "z" is unused
37:9-37:10 unused-variable: variable "s" is unused
`},
	{"unused functions and names of a file", `def _f(x):
    return _g(x)

def _g(x):
    x = 1
    return [_x for _x in [1]]

def _h():
    _y = 1
    return lambda _y: _y

_x = 1
_y = 1 # @unused
_ = 2
Y = 1
for _z in []:
    _w = _z
`, `
1:1-2:17 unused-variable: function "_f" is unused
4:8-4:9 unused-variable: variable "x" is unused
8:1-10:25 unused-variable: function "_h" is unused
9:5-9:7 unused-variable: variable "_y" is unused
12:1-12:3 unused-variable: variable "_x" is unused
17:5-17:7 unused-variable: variable "_w" is unused
`},
	{"loads", `load("./a.star", "a", "b", c = "d")
load("./b.star", "e", "f", "g")
load("./c.star", "h") # @unused
load(
    "./d.star",
    "i", # @unused
    "j",
    l2 = "k",

    # comment
    m = "k",
)

f = 1

def x(a, b = 1):
    g = 1
    e(g = 1, c = h)
    l2, n = a
    return m
`, `
1:24-1:25 unused-load: loaded symbol "b" is unused
1:28-1:29 unused-load: loaded symbol "c" is unused
2:24-2:25 unused-load: loaded symbol "f" is unused
2:29-2:30 unused-load: loaded symbol "g" is unused
7:6-7:7 unused-load: loaded symbol "j" is unused
16:10-16:11 unused-variable: variable "b" is unused
17:5-17:6 unused-variable: variable "g" is unused
19:5-19:7 unused-variable: variable "l2" is unused
19:9-19:10 unused-variable: variable "n" is unused
`},
	{"loads of the same name", `load("./a.star", "a")
load("./a.star", "a", "b")
load("./b.star", "b", "c")

X = a, b, c
`, `
2:19-2:20 unused-load: symbol "a" has already been loaded on line 1
3:19-3:20 unused-load: a different symbol "b" has already been loaded on line 2
`},
	{"disabled by names of buildifier and on blocks", `# buildifier: disable=function-docstring-header
def _f(x):
    """Two
    lines."""
    y = 1 # buildifier: disable=unused-variable
    if x: # lint: disable=no-effect, return-value
        x
    return 1

# buildifier: disable=return-value
def _g(x):
    if x:
        return 1
    x == 1 # lint: disable=unreachable

X = [_f, _g]
`, `
7:9-7:10 no-effect: expression result is not used
14:5-14:11 no-effect: expression result is not used
`},
}

// TestSuspicious checks that starlint finds what buildifier finds.
func TestSuspicious(t *testing.T) {
	t.Parallel()
	rules := strings.Fields("confusing-name dict-method-named-arg docstring-header list-append no-effect return-value " +
		"string-iteration uninitialized unreachable unused-load unused-variable")
	for _, c := range suspicious {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found := slices.DeleteFunc(check("x.star", []byte(c.src)), func(f starlint.Finding) bool { return !slices.Contains(rules, f.Rule) })
			same(t, found, strings.Trim(c.want, "\n"))
		})
	}
}
