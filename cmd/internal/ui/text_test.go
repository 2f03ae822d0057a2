package ui

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, line, lines string }{
		{"plain ünï ✓\ttab", "plain ünï ✓\ttab", "plain ünï ✓\ttab"},
		{"a\nb", `a\nb`, "a\nb"},
		{"\x1b[2Jx\r\a", `\x1b[2Jx\r\a`, `\x1b[2Jx\r\a`},
		{"\u009b31m", `\u009b31m`, `\u009b31m`},
		{"a\u202eb", `a\u202eb`, `a\u202eb`},
		{"bad \xff", `bad \xff`, `bad \xff`},
	} {
		if got := Clean(c.in, false); got != c.line {
			t.Errorf("%q: got %q, want %q", c.in, got, c.line)
		}
		if got := Clean(c.in, true); got != c.lines {
			t.Errorf("%q: got %q, want %q", c.in, got, c.lines)
		}
	}
}

func TestWrapText(t *testing.T) {
	t.Parallel()
	got := strings.Join(WrapText("one two three\nfour veryverylong", 8), "|")
	if got != "one two|three|four|veryverylong" {
		t.Error(got)
	}
}

func TestLineIsBounded(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	c := NewConsole(Streams{Err: &out})
	c.SayError("unknown option " + strings.Repeat("x", 1<<20) + " (see torchx runopts)")
	if got := out.String(); len(got) > 200 || !strings.HasSuffix(got, "xxx… (see torchx runopts)\n") {
		t.Errorf("got %.300q, want a short word and the remedy", got)
	}
	out.Reset()
	c.SayError(strings.Repeat("ä ", 1<<20))
	if got := out.String(); len(got) > maxLine+100 || !strings.HasSuffix(got, "…\n") {
		t.Errorf("got %d bytes that end with %q, want at most %d", len(got), got[len(got)-8:], maxLine)
	}
}
