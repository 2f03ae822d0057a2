package interp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
)

// FuzzLoad checks that any bytes load, or fail with an *Error of one printable
// line, without a panic and in time.
func FuzzLoad(f *testing.F) {
	for _, source := range semantics {
		f.Add([]byte(source))
	}
	for _, c := range []string{"", "load('./x.star', 'x')", "x = (", "x = 'a", "\xff", "\x00", "def f(", "if 1:\n\tx = 1\n  y = 2", "x = [y for", "x += 1", "x = *a", "(((((a)))))+=b", "a.b.c[d] += e"} {
		f.Add([]byte(c))
	}
	f.Add([]byte(ordinary))
	f.Fuzz(func(t *testing.T, source []byte) {
		c := Config{MaxSteps: 20_000, Timeout: time.Second, MaxHeap: 1 << 30, Builtins: mapFS(map[string]string{"x.star": string(source), "util.star": util})}
		begin := time.Now()
		m, err := New(c).LoadBuiltin(context.Background(), "x.star")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("got %s, want at most 5s", took)
		}
		if err == nil {
			if string(m.Source) != string(source) {
				t.Error("the source was changed")
			}
			return
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("error is a %T: %v", err, err)
		}
		if strings.IndexFunc(e.Error(), unicode.IsControl) >= 0 {
			t.Errorf("error is not one printable line: %q", e.Error())
		}
		if strings.Contains(e.Error(), "internal error") {
			t.Errorf("internal error: %v", e)
		}
		e.Detail()
	})
}
