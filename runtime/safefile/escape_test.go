package safefile

import "testing"

func TestEscape(t *testing.T) {
	t.Parallel()
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'x'
	}
	tests := map[string]string{
		"My_App.v1-x": "My_App.v1-x", "": "%", "..": "%2E.", ".hidden": "%2Ehidden", "a b/c": "a%20b%2Fc",
		"é": "%C3%A9", "100%": "100%25",
	}
	for in, want := range tests {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q): got %q, want %q", in, got, want)
		}
	}
	a, b := Escape(string(long)), Escape(string(long)+"y")
	if len(a) > maxName || a == b {
		t.Errorf("two long names: got %q and %q, want different names of at most 100 bytes", a, b)
	}
}
