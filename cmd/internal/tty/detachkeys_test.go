package tty

import (
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
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

func TestScreenModes(t *testing.T) {
	t.Parallel()
	for shown, want := range map[string]string{
		"plain text\r\n":                           "",
		"\x1b[1mbold\x1b[0m\x1b[2J\x1b[10;20H":     "",
		"\x1b[?1049h\x1b[?25lpicture":              "\x1b[?1049l\x1b[?25h" + ui.AnsiReset,
		"\x1b[?1049h\x1b[?25l\x1b[?25h\x1b[?1049l": "",
		"\x1b[?1002;1006h":                         "\x1b[?1002l\x1b[?1006l" + ui.AnsiReset,
		"\x1b[?2004h$ ":                            "\x1b[?2004l" + ui.AnsiReset,
		"\x1b]0;title [?25h\x07":                   "",
		"\x1b[?" + strings.Repeat("1;", 90) + "h":  "",
	} {
		for _, size := range []int{1, 3, 1000} {
			var m ScreenModes
			for left := []byte(shown); len(left) > 0; left = left[min(size, len(left)):] {
				m.See(left[:min(size, len(left))])
			}
			if got := m.Undo(); got != want {
				t.Errorf("%q by %d: %q, want %q", shown, size, got, want)
			}
		}
	}
}
