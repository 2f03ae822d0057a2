package humanize

import (
	"fmt"
	"strings"
	"testing"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        `""`,
		"a\nb":                    `"a\nb"`,
		strings.Repeat("x", 100):  `"` + strings.Repeat("x", 100) + `"`,
		strings.Repeat("x", 101):  `"` + strings.Repeat("x", 100) + `"…`,
		strings.Repeat("語", 100):  `"` + strings.Repeat("語", 100) + `"`,
		strings.Repeat("😀", 5000): `"` + strings.Repeat("😀", 100) + `"…`,
	} {
		if got := Quote(text); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	if got := List([]string{"a", "b"}); got != "a, b" {
		t.Errorf("got %s, want a, b", got)
	}
	names := make([]string, 80000)
	for i := range names {
		names[i] = fmt.Sprintf("name%05d", i)
	}
	got := List(names)
	if !strings.HasPrefix(got, "name00000, name00001, ") || !strings.HasSuffix(got, "name00044, … 79955 more") {
		t.Errorf("got %.30s … %s, want the first names and the number of others", got, got[len(got)-40:])
	}
}
