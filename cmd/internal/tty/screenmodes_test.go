package tty

import (
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
)

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
				m.Observe(left[:min(size, len(left))])
			}
			if got := m.Reset(); got != want {
				t.Errorf("%q by %d: %q, want %q", shown, size, got, want)
			}
		}
	}
}
