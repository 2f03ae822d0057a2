package specmodule

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// names collects the full names of a value and its members.
func names(to map[string]bool, name string, v starlark.Value) {
	to[name] = true
	if name == "math" {
		return // Starlark's own modules are documented as a whole
	}
	switch v := v.(type) {
	case *starlarkstruct.Module:
		for member, m := range v.Members {
			names(to, name+"."+member, m)
		}
	case *callableModule:
		for member, m := range v.members {
			names(to, name+"."+member, m)
		}
	}
}

func TestDocsAreComplete(t *testing.T) {
	t.Parallel()
	have := map[string]bool{}
	for name, v := range Predeclared(Options{}) {
		names(have, name, v)
	}
	for name := range have {
		d, ok := Docs()[name]
		if !ok {
			t.Errorf("%s is not documented", name)
		} else if !strings.HasPrefix(d.Signature, name) || d.Text == "" || strings.Contains(d.Text, "\n") {
			t.Errorf("%s: got %+v, want a signature and one paragraph", name, d)
		}
	}
	for name := range Docs() {
		if !have[name] {
			t.Errorf("%s is documented, but does not exist", name)
		}
	}
}

// TestSignaturesNameTheFields checks that signatures match the schema.
func TestSignaturesNameTheFields(t *testing.T) {
	t.Parallel()
	for k := range kindCount {
		signature := Docs()[k.String()].Signature
		at := 0
		for _, f := range schemas[k] {
			want := f.name
			if f.fallback != nil {
				want += " ="
			}
			i := strings.Index(signature[at:], want)
			if i < 0 {
				t.Fatalf("%s lacks %q after its first %d characters", signature, want, at)
			}
			at += i + len(want)
		}
	}
}

func TestBuiltinsKnowTheirNames(t *testing.T) {
	t.Parallel()
	for name, module := range Predeclared(Options{}) {
		m, ok := module.(*starlarkstruct.Module)
		if !ok || name == "math" {
			continue
		}
		for member, v := range m.Members {
			if b, ok := v.(starlark.Callable); ok && b.Name() != name+"."+member {
				t.Errorf("%s.%s: got name %s, want that of the member", name, member, b.Name())
			}
		}
	}
}
