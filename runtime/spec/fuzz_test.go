package spec

import (
	"strings"
	"testing"
)

// FuzzSubstitute checks the laws of macro substitution on any text.
func FuzzSubstitute(f *testing.F) {
	for _, s := range []string{"", "$", "$$", "${app_id}", "$$${rank0_env}", "${", "$app_id$replica_id", "${img_root", "$\u00e9", "a$1"} {
		f.Add(s)
	}
	m := Macros{ImgRoot: "IMG", AppID: "APP", ReplicaID: "7", Rank0Env: "R0"}
	f.Fuzz(func(t *testing.T, text string) {
		got := m.Substitute(text)
		if !strings.Contains(text, "$") && got != text {
			t.Errorf("text without $ changed: %q to %q", text, got)
		}
		if escaped := m.Substitute(strings.ReplaceAll(text, "$", "$$")); escaped != text {
			t.Errorf("escaped text is not itself again: %q to %q", text, escaped)
		}
		if twice := m.Substitute(text + " " + text); twice != got+" "+got {
			t.Errorf("parts influence each other: %q to %q", text, twice)
		}
		if n := m.expandedLen(text); n != len(got) {
			t.Errorf("%q is said to have %d bytes as %q", got, n, text)
		}
		if len(got) > len(text) {
			t.Errorf("no value is longer than its macro, but %q became %q", text, got)
		}
	})
}

// FuzzParseHandle checks that what parses prints as it was, and parses again.
func FuzzParseHandle(f *testing.F) {
	for _, s := range []string{"local://torchx/a", "k8s:///x", "a://b/c/d", "a://b", "", "://a/b", "a b://c d/e f", "a://\n/b", "x://y://z/w"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHandle(text)
		if err != nil {
			if !strings.Contains(err.Error(), "is not of the form") {
				t.Errorf("ParseHandle(%q): %v", text, err)
			}
			return
		}
		if h.Backend == "" || h.AppID == "" {
			t.Errorf("ParseHandle(%q) = %+v", text, h)
		}
		if h.String() != text {
			t.Errorf("%q became %q", text, h.String())
		}
	})
}
