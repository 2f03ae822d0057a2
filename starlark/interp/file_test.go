package interp

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// TestFileName checks that __file__ is the path of the file itself, also in a loaded file.
func TestFileName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.star": "load('./b.star', 'there')\nhere = __file__\n", "b.star": "there = __file__\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	i := New(Config{Dir: dir})
	for name, global := range map[string]string{"a.star": "here", "b.star": "there"} {
		m, err := i.LoadFile(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Globals[global]; got != starlark.String(filepath.Join(dir, name)) {
			t.Errorf("__file__ of %s is %v", name, got)
		}
	}
}

// TestLines compares positions with a walk through the text, also in long lines.
func TestLines(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a\nbc\n", "ä\r\nbä\n\nc", strings.Repeat("aä語😀", 500) + "\n" + strings.Repeat("x", 1000), "\xff\n\xc3(" + strings.Repeat("é", 300)} {
		l := NewLines(text)
		line, col := 1, 1
		for i, r := range text {
			if got := l.Offset(line, col); got != i {
				t.Fatalf("%.20q: Offset(%d, %d) = %d, want %d", text, line, col, got, i)
			}
			if at, _ := l.LineCol(i); at != line-1 || l.Chars(i)-l.Chars(l.Start(at)) != col-1 {
				t.Fatalf("%.20q: offset %d is at %d:%d, want %d:%d", text, i, at+1, l.Chars(i)-l.Chars(l.Start(at))+1, line, col)
			}
			if col++; r == '\n' {
				line, col = line+1, 1
			}
		}
		if end := l.Offset(line, 1<<30); end != len(text) {
			t.Errorf("%.20q: the end is at %d, want %d", text, end, len(text))
		}
		if l.Offset(1, -5) != 0 || l.Offset(1<<30, 3) != len(text) {
			t.Errorf("%.20q: positions outside are not at the ends", text)
		}
	}
}
