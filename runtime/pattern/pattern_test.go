package pattern

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range maxPatterns + 1 {
		many[fmt.Sprint(i)] = "(x)"
	}
	for want, patterns := range map[string]map[string]string{
		"":                    {"loss": "(x)", "step": "s(x)"},
		"33 patterns":         many,
		"`(` (want RE2)":      {"loss": "("},
		"no group":            {"loss": "x"},
		"want at most 1000":   {"loss": strings.Repeat("x", 1001)},
		"no control char":     {"a\nb": "(x)"},
		"only metric":         {"step": "(x)"},
		"`(?=` (want RE2)":    {"loss": "(?=x)"},
		`metric "loss": no`:   nil,
		`metric "loss": patt`: {"loss": "x"},
	} {
		if patterns == nil {
			continue
		}
		_, err := Parse(patterns)
		if text := fmt.Sprint(err); err == nil && want != "" || err != nil && want == "" || !strings.Contains(text, want) && want != "" || strings.Contains(text, "\n") {
			t.Errorf("got %v, want one line with %q", err, want)
		}
	}
}

// The fast ways find what package regexp finds.
func TestMatcherIsExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	parts := []string{`a`, `loss`, `[=: ]+`, `([0-9.]+)`, `(\d+)`, `\s*`, `[^b]*`, `(\S+)`, `x?`, `(?i)l`, `.*`, `.*?`, `(a|b)`, `b{2}`, `(-?\d+)`, `^`, `$`, `\b`, `é`}
	texts := []string{"a", "loss", "=", " ", "1", "23", ".5", "b", "x", "é", "\xff", "-", "ss", "\t"}
	fast := 0
	for range 20_000 {
		pattern := ""
		for range 1 + r.IntN(5) {
			pattern += parts[r.IntN(len(parts))]
		}
		re, err := regexp.Compile(pattern)
		if err != nil || re.NumSubexp() == 0 {
			continue
		}
		m := newMatcher("x", re, pattern)
		if m.sequence != nil {
			fast++
		}
		for range 10 {
			line := ""
			for range r.IntN(10) {
				line += texts[r.IntN(len(texts))]
			}
			want, ok := []byte(nil), false
			if at := re.FindSubmatchIndex([]byte(line)); at != nil && at[2] >= 0 {
				want, ok = []byte(line)[at[2]:at[3]], true
			}
			var got []byte
			found := false
			if from := m.MayMatch([]byte(line), 0); from < len(line) || m.literal == nil {
				got, found = m.Find([]byte(line), from)
			}
			if found != ok || !bytes.Equal(got, want) {
				t.Fatalf("pattern %q in %q: got %q, %v, want %q, %v", pattern, line, got, found, want, ok)
			}
		}
	}
	if fast < 200 {
		t.Errorf("%d patterns are sequences, want many", fast)
	}
}
