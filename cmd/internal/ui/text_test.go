package ui

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
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

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in   string
		want time.Time
	}{
		{"2026-01-31T11:00:00Z", now.Add(-time.Hour)},
		{"2026-01-31T11:00:00.5+00:00", now.Add(-time.Hour + 500*time.Millisecond)},
		{"0", time.Unix(0, 0)},
		{"1700000000.25", time.Unix(1700000000, 250e6)},
		{"10m", now.Add(-10 * time.Minute)},
		{"1h30m", now.Add(-90 * time.Minute)},
		{"3d", now.Add(-72 * time.Hour)},
		{"0.5d", now.Add(-12 * time.Hour)},
		{"1w", now.Add(-7 * 24 * time.Hour)},
	} {
		got, err := ParseTime(c.in, now)
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "yesterday", "-5m", "-5", "d", "NaN", "Inf", "1e300", "-1d", "2026-13-01T00:00:00Z"} {
		if got, err := ParseTime(in, now); err == nil {
			t.Errorf("%q: got %v, want an error", in, got)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": -time.Second, "59s": 59 * time.Second, "2m": 150 * time.Second,
		"47h": 47*time.Hour + time.Minute, "3d": 80 * time.Hour,
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	tab := Table{Header: []string{"NAME", "STATE", "EXIT"}}
	tab.Add(Cell{"a", ""}, Cell{"RUNNING", AnsiGreen}, Cell{})
	tab.Add(Cell{"längër\x1b[0m", ""}, Cell{"FAILED", AnsiRed}, Cell{"1", ""})
	var b bytes.Buffer
	must(t, tab.Write(&b, Style{}))
	want := strings.Join([]string{
		`NAME           STATE    EXIT`,
		`a              RUNNING`,
		`längër\x1b[0m  FAILED   1`, "",
	}, "\n")
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	must(t, tab.Write(&b, Style{Color: true}))
	if !strings.Contains(b.String(), AnsiRed+"FAILED"+AnsiReset+"   1") {
		t.Errorf("no colours: %q", b.String())
	}
}

func TestWrapText(t *testing.T) {
	t.Parallel()
	got := strings.Join(WrapText("one two three\nfour veryverylong", 8), "|")
	if got != "one two|three|four|veryverylong" {
		t.Error(got)
	}
}

// FuzzParseTime checks that whatever is accepted is a moment that backends can
// hold in nanoseconds, and that an age is never in the future.
func FuzzParseTime(f *testing.F) {
	f.Add("10m")
	f.Add("2026-01-31T11:00:00Z")
	f.Add("99999999d")
	f.Add("1e9")
	f.Fuzz(func(t *testing.T, text string) {
		now := time.Unix(1700000000, 0)
		got, err := ParseTime(text, now)
		if err != nil {
			return
		}
		if _, err := time.ParseDuration(text); err == nil && got.After(now) && text != "0" {
			t.Errorf("%q is %v, after now", text, got)
		}
		if back := time.Unix(0, got.UnixNano()); !back.Equal(got) {
			t.Errorf("%q is %v, which does not fit in nanoseconds", text, got)
		}
	})
}

func TestTableFitsTheScreen(t *testing.T) {
	t.Parallel()
	tab := Table{Header: []string{"HANDLE", "NAME", "STATE", "KIND"}}
	tab.Add(Cell{"local://torchx/x", ""}, Cell{"x", ""}, Cell{"RUNNING", ""}, Cell{"utils.echo", ""})
	for width, want := range map[int]string{
		200: "HANDLE            NAME  STATE    KIND", 42: "HANDLE            STATE    KIND",
		25: "HANDLE            STATE", 5: "HANDLE            STATE",
	} {
		got := Table{Header: slices.Clone(tab.Header), Rows: [][]Cell{slices.Clone(tab.Rows[0])}}
		got.Fit(width, "NAME", "KIND")
		var b strings.Builder
		if err := got.Write(&b, Style{}); err != nil {
			t.Fatal(err)
		}
		if line, _, _ := strings.Cut(b.String(), "\n"); line != want {
			t.Errorf("at %d columns the header is %q, want %q", width, line, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "500": 500, "1K": 1024, "1k": 1024, "2MiB": 2 << 20, "1.5G": 3 << 29, "10GB": 10e9, "1 TB": 1e12, "7B": 7,
	} {
		if got, err := ParseBytes(text); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "G", "1X", "1iB", "1e3", "99999999P", "1 2"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}
