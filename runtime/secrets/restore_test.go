package secrets

import (
	"strings"
	"testing"
)

func TestRestore(t *testing.T) {
	t.Parallel()
	r := rules(t)
	const old = "ran with TOKEN=abc and PASSWORD=def, twice"
	for name, tt := range map[string]struct{ old, edited, want, err string }{
		"unchanged":                {old, "ran with TOKEN=****** and PASSWORD=******, twice", old, ""},
		"words around":             {old, "it ran with TOKEN=****** and PASSWORD=******", "it ran with TOKEN=abc and PASSWORD=def", ""},
		"at the start":             {"TOKEN=abc x", "y TOKEN=******", "y TOKEN=abc", ""},
		"with a new secret":        {"TOKEN=abc x", "TOKEN=****** PASSWORD=new", "TOKEN=abc PASSWORD=new", ""},
		"without the secrets":      {old, "ran", "ran", ""},
		"new secrets":              {old, "TOKEN=x PASSWORD=y", "TOKEN=x PASSWORD=y", ""},
		"nothing was hidden":       {"x", "TOKEN=******", "TOKEN=******", ""},
		"stars of the user":        {"****** TOKEN=abc", "****** TOKEN=****** x", "****** TOKEN=abc x", ""},
		"one of two":               {old, "ran with TOKEN=******", "", "stands for 2 secrets of the old text and is 1 times"},
		"a name that is no secret": {"TOKEN=abc x", "hint: ****** x", "", "would show"},
		"a value by its format":    {"key " + sample("hf_", 12) + " here", "key ****** there", "key " + sample("hf_", 12) + " there", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Restore(tt.old, tt.edited, r.Text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %q, %v, want an error with %q", got, err, tt.err)
				}
				return
			}
			if err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// Whatever was hidden stays hidden.
func FuzzRestore(f *testing.F) {
	f.Add("TOKEN=abc PASSWORD=d e", "x TOKEN=****** PASSWORD=******")
	f.Add("TOKEN=****** TOKEN=a", "TOKEN=******")
	f.Fuzz(func(t *testing.T, old, edited string) {
		r := rules(t)
		got, err := Restore(old, edited, r.Text)
		if err == nil && edited != r.Text(old) && r.Text(got) != r.Text(edited) {
			t.Errorf("got %q of %q, which shows %q instead of %q", got, old, r.Text(got), r.Text(edited))
		}
		if back, err := Restore(old, r.Text(old), r.Text); err != nil || strings.Contains(r.Text(old), Hidden) && back != old {
			t.Errorf("got %q, %v, want the unchanged %q", back, err, old)
		}
	})
}
