package spec

import (
	"strings"
	"testing"
)

// FuzzSubstitute checks invariants of macro substitution on any text.
func FuzzSubstitute(f *testing.F) {
	for _, s := range []string{"", "$", "$$", "${app_id}", "$$${rank0_env}", "${", "$app_id$replica_id", "${img_root", "$\u00e9", "a$1"} {
		f.Add(s)
	}
	m := Macros{ImgRoot: "IMG", AppID: "APP", ReplicaID: "7", Rank0Env: "R0"}
	f.Fuzz(func(t *testing.T, text string) {
		got := m.Substitute(text)
		if !strings.Contains(text, "$") && got != text {
			t.Errorf("text without $: got %q, want %q", got, text)
		}
		if escaped := m.Substitute(strings.ReplaceAll(text, "$", "$$")); escaped != text {
			t.Errorf("escaped %q: got %q, want the text", text, escaped)
		}
		if twice := m.Substitute(text + " " + text); twice != got+" "+got {
			t.Errorf("%q twice: got %q, want both parts independent", text, twice)
		}
		if n := m.expandedLen(text); n != len(got) {
			t.Errorf("expandedLen(%q): got %d, want %d", text, n, len(got))
		}
		if len(got) > len(text) {
			t.Errorf("%q: got the longer %q, though no value is longer than its macro", text, got)
		}
	})
}

// FuzzParseHandle checks that a parsed handle prints as the same text.
func FuzzParseHandle(f *testing.F) {
	for _, s := range []string{"local://torchx/a", "k8s:///x", "a://b/c/d", "a://b", "", "://a/b", "a b://c d/e f", "a://\n/b", "x://y://z/w"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := ParseHandle(text)
		if err != nil {
			if !strings.Contains(err.Error(), "is not of the form") {
				t.Errorf("ParseHandle(%q): got %v, want TorchX's message", text, err)
			}
			return
		}
		if h.Backend == "" || h.AppID == "" {
			t.Errorf("ParseHandle(%q): got %+v, want backend and ID", text, h)
		}
		if h.String() != text {
			t.Errorf("ParseHandle(%q).String(): got %q", text, h.String())
		}
	})
}
