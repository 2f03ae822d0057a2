package startest_test

import (
	"strings"
	"testing"

	"torchx/starlark/startest"
)

func TestAssertions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body   string
		status startest.Status
		want   string // the output, or its beginning before "…"
	}{
		{`t.eq(1, 1)`, startest.Pass, ""},
		{`t.eq({"a": [1]}, {"a": [1.0]})`, startest.Pass, ""},
		{`t.eq(1, 2)`, startest.Fail, "x_test.star:4: got 1, want 2"},
		{`t.eq(1, "1")`, startest.Fail, `x_test.star:4: got 1, want "1"`},
		{`t.eq(1, 2, "sum")`, startest.Fail, "x_test.star:4: sum: got 1, want 2"},
		{"t.eq(1, 2)\nt.eq(3, 4)", startest.Fail, "x_test.star:4: got 1, want 2\nx_test.star:5: got 3, want 4"},
		{`t.eq("a\n" * 50 + "b", "a\n" * 50 + "c")`, startest.Fail, "x_test.star:4: got differs from want:\n    --- want\n    +++ got\n    @@ -48,4 +48,4 @@…"},
		{`t.eq(one(), one())`, startest.Pass, ""},
		{`t.eq(one(n = 2), one(n = 3))`, startest.Fail, "x_test.star:4: got differs from want:\n    --- want…"},
		{`t.ne(1, 2)`, startest.Pass, ""},
		{`t.ne(1, 1)`, startest.Fail, "x_test.star:4: got 1, want any other value"},
		{"t.true([1])\nt.false({})", startest.Pass, ""},
		{"t.true(0)\nt.false('a', 'msg')", startest.Fail, "x_test.star:4: got 0, want a true value\nx_test.star:5: msg: got \"a\", want a false value"},
		{"t.contains('abc', 'b')\nt.contains([1], 1)\nt.contains({'k': 1}, 'k')\nt.lacks((1,), 2)", startest.Pass, ""},
		{"t.contains([1], 2)\nt.lacks('ab', 'a')", startest.Fail, "x_test.star:4: [1] does not contain 2\nx_test.star:5: \"ab\" contains \"a\""},
		{`t.contains(1, 2)`, startest.Fail, "x_test.star:4:15: contains: unknown binary op: int in int…"},
		{`t.matches("abc", "^a.c$")`, startest.Pass, ""},
		{`t.matches("abc", "x")`, startest.Fail, `x_test.star:4: "abc" does not match "x"`},
		{`t.matches("abc", "(")`, startest.Fail, `x_test.star:4:14: matches: "(" is not a valid regular expression (RE2): …`},
		{`t.fails(lambda: fail("no way"), "no w.y$")`, startest.Pass, ""},
		{`t.eq(t.fails(fail, "x", "x"), "fail: x")`, startest.Pass, ""},
		{`t.fails(lambda: 1 + "a", "unknown binary op")`, startest.Pass, ""},
		{`t.fails(one, "num_replicas", n = "x")`, startest.Pass, ""},
		{`t.fails(lambda: 3, "x")`, startest.Fail, `x_test.star:4: lambda did not fail: it returned 3, want an error that matches "x"`},
		{`t.fails(lambda: fail("a"), "b")`, startest.Fail, `x_test.star:4: lambda failed with "fail: a", which does not match "b"`},
		{`t.fails(3, "b")`, startest.Fail, "x_test.star:4:12: fails: 3 is not a function, got …"},
		{"t.error('a')\nt.log('b', 1, [2])", startest.Fail, "x_test.star:4: a\nx_test.star:5: b 1 [2]"},
		{"t.fatal('a')\nt.log('b')", startest.Fail, "x_test.star:4: a"},
		{"print('p')\nt.log('l')", startest.Pass, "p\nx_test.star:5: l"},
		{"t.skip('later')\nt.error('b')", startest.Skip, "x_test.star:4: later"},
		{"t.error('b')\nt.skip()", startest.Fail, "x_test.star:4: b"},
		{`fail("f")`, startest.Fail, "x_test.star:4:9: fail: f\n  x_test.star:4:9: in test_x…"},
		{`one(n = "x")`, startest.Fail, "@torchx//one.star:…"},
		{`t.nothing()`, startest.Fail, "x_test.star:4:6: test has no .nothing field or method…"},
		{`t.eq(1)`, startest.Fail, "x_test.star:4:9: t.eq: missing argument for want…"},
		{`t.eq(t.name, "test_x")`, startest.Pass, ""},
		{"for i in range(1 << 40):\n    pass", startest.Fail, "x_test.star:4:5: the evaluation took more than 1000000 steps and was stopped; is there a loop that does not end?…"},
		{`t.fails(lambda: [i for i in range(1 << 40)], ".")`, startest.Fail, "x_test.star:4:24: the evaluation took more than 1000000 steps…"},
		{`x = "a" * (1 << 40)`, startest.Fail, "x_test.star:4:13: * would make a value of 1 TiB…"},
		{`t.eq(torchx.getenv("HOME"), None)`, startest.Pass, ""},
		{"t.setenv('A', 'b')\nt.eq(torchx.getenv('A'), 'b')", startest.Pass, ""},
		{`t.eq(torchx.IMAGE, "img")`, startest.Pass, ""},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			r := one(t, c.body)
			got := outputOf(r)
			begin, partly := strings.CutSuffix(c.want, "…")
			matches := got == c.want || partly && strings.HasPrefix(got, begin)
			if r.Status != c.status || !matches {
				t.Errorf("%s, output\n%s\nwant %s,\n%s", r.Status, got, c.status, c.want)
			}
		})
	}
}

func TestSubtests(t *testing.T) {
	t.Parallel()
	r := one(t, `def check(t, n):
    t.eq(n, 1)
for n in [1, 2]:
    t.eq(t.run("n is %d" % n, check, n), n == 1)
t.run("", lambda t: t.skip())
t.run("deep", lambda t: t.run("er", lambda t: t.fatal("x")))
t.run("deep", lambda t: fail("y"))
t.log("goes on")`)
	want := `x_test.star:11: goes on
pass test_x/n_is_1

fail test_x/n_is_2
x_test.star:5: got 2, want 1
skip test_x/#00

fail test_x/deep
fail test_x/deep/er
x_test.star:9: x
fail test_x/deep#01
x_test.star:10:33: fail: y
  x_test.star:10:33: in lambda`
	if got := outputOf(r); r.Status != startest.Fail || !strings.HasPrefix(got, want) {
		t.Errorf("%s\n%s\nwant\n%s", r.Status, got, want)
	}
}

// TestLimitEndsTheTest checks that a subtest that is stopped at a limit ends the whole test.
func TestLimitEndsTheTest(t *testing.T) {
	t.Parallel()
	r := one(t, "def endless(t):\n    for i in range(1 << 40):\n        pass\nt.run('a', endless)\nt.log('not reached')")
	if got := outputOf(r); r.Status != startest.Fail || strings.Contains(got, "not reached") || !strings.Contains(got, "fail test_x/a") {
		t.Errorf("got %s, want a failure that ends the test:\n%s", r.Status, got)
	}
}

func TestApp(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`t.eq(t.app(one, "--n", "3").roles[0].num_replicas, 3)`: "",
		`t.app(one, "--m", "3")`:                                `x_test.star:4:10: app: unknown option "--m"`,
		`t.app(one, "-n", "x")`:                                 `x_test.star:4:10: app: -n: "x" is not an int`,
		`t.app(one, 3)`:                                         "argument 1: got int, want a string as typed",
		`t.app(lambda: 3)`:                                      "component returned int, want specs.AppDef",
		`t.fails(t.app, "unknown option", one, "--m=1")`:        "",
		`t.eq(t.plan(one(), "b", {"k": True, "n": 3})["cfg"], {"k": "true", "n": "3"})`: "",
		`t.eq(t.plan(one())["backend"], "local")`:                                       "",
		`t.plan(one(), "nowhere")`:                                                      "plan: unknown backend nowhere",
		`t.plan(3)`:                                                                     "returned int, want specs.AppDef",
	} {
		r := one(t, body)
		if got := outputOf(r); (want == "") != (r.Status == startest.Pass) || !strings.Contains(got, want) {
			t.Errorf("%s: %s\n%s\nwant %s", body, r.Status, got, want)
		}
	}
}
