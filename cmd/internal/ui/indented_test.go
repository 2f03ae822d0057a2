package ui

import (
	"io"
	"strings"
	"testing"
)

func TestIndented(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	w := &Indented{W: &b, Title: "title\n"}
	w.End()
	for _, s := range []string{"", "a\nb", "c\n", "d"} {
		_, err := io.WriteString(w, s)
		must(t, err)
	}
	w.End()
	if b.String() != "title\n  a\n  bc\n  d\n" {
		t.Errorf("got %q", b.String())
	}
}
