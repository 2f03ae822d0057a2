package tty

import (
	"strings"
	"testing"
)

func TestParseDetachKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":               "\x10\x11",
		"ctrl-p,ctrl-q":  "\x10\x11",
		"ctrl-],x":       "\x1dx",
		"ctrl-@":         "\x00",
		`ctrl-\,ctrl-_`:  "\x1c\x1f",
		"a,DEL,ctrl-[":   "a\x7f\x1b",
		"ctrl-^,ctrl-z,": "error",
		"ctrl-1":         "error",
		"ctrl-P":         "error",
		"ctrl-":          "error",
		"xy":             "error",
		"é":              "error",
	} {
		got, err := ParseDetachKeys(text)
		if (err != nil) != (want == "error") || err == nil && string(got) != want {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestDetachKeys: whatever pieces the keys come in, they are found, and nothing
// else is kept back.
func TestDetachKeys(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys, typed, pass, held string
		found                   bool
	}{
		{"pq", "xpq", "x", "", true},
		{"pq", "pqrest", "", "", true},
		{"pq", "ppq", "p", "", true},
		{"pq", "pxpypq", "pxpy", "", true},
		{"pq", "xp", "x", "p", false},
		{"pq", "qp\x10", "qp\x10", "", false},
		{"aab", "aaab", "a", "", true},
		{"aba", "abxaba", "abx", "", true},
		{"x", "abx", "ab", "", true},
		{"pq", "plain", "plain", "", false},
	} {
		for _, size := range []int{1, 2, 100} {
			d := DetachKeys{Keys: []byte(c.keys)}
			var pass strings.Builder
			found := false
			for left := []byte(c.typed); len(left) > 0 && !found; {
				n := min(size, len(left))
				var p []byte
				p, found = d.Feed(left[:n])
				pass.Write(p)
				left = left[n:]
			}
			if held := string(d.Flush()); pass.String() != c.pass || held != c.held || found != c.found {
				t.Errorf("%q in %q by %d: %q, held %q, %v", c.keys, c.typed, size, pass.String(), held, found)
			}
		}
	}
}
