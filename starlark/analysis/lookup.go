package analysis

import (
	"cmp"
	"slices"
	"strings"

	"torchx/starlark/component"
	"torchx/starlark/starfiles"
)

// Loader finds what load() brings in.
type Loader interface {
	// Load returns the file that a label means in a load() of from.
	Load(from *File, label string) (*File, error)
	// Entries lists what the label of a load() in from can go on with, where folder is
	// its part up to the last "/": files, and folders with a "/" behind.
	Entries(from *File, folder string) []string
	// Roots lists the labels of libraries: "@torchx//", "@name//".
	Roots(from *File) []string
	// Resources lists the names of resources that the project of a file adds.
	Resources(from *File) []string
}

// Lookup returns what a name with its dots means at an offset of the file, nil if
// that cannot be told. What load() brings in is described by the file it is from.
func (f *File) Lookup(l Loader, offset int, name string) *Symbol {
	first, rest, dotted := strings.Cut(name, ".")
	s := f.plain(offset, first)
	switch {
	case s == nil:
		s = Builtin(first)
	case s.Label != "":
		s = f.loaded(l, s)
	}
	if s == nil || !dotted {
		return s
	}
	for _, m := range f.MembersOf(l, offset, first) {
		if m.Name == rest {
			return m
		}
	}
	return Builtin(f.builtinType(l, offset, first) + "." + rest)
}

// plain is what a name without dots means in the file itself.
func (f *File) plain(offset int, name string) *Symbol {
	locals := f.Locals(offset)
	if i := slices.IndexFunc(locals, func(s *Symbol) bool { return s.Name == name }); i >= 0 {
		return locals[i]
	}
	return f.Global(name)
}

// loaded is the symbol that a load() brings in, or the load's own if that is not there.
func (f *File) loaded(l Loader, s *Symbol) *Symbol {
	from, err := l.Load(f, s.Label)
	if err != nil {
		return s
	}
	origin := from.Global(s.Original)
	if origin == nil || origin.Label != "" {
		return s
	}
	found := *origin
	found.Label = s.Label
	return &found
}

// MembersOf lists what can stand behind the dot of a name, or of a literal of a
// type such as "string"; none if its type is not known.
func (f *File) MembersOf(l Loader, offset int, chain string) []*Symbol {
	kind := f.builtinType(l, offset, chain)
	if s := Builtin(kind); s != nil && s.Kind == Type && kind != chain {
		return fields(s)
	}
	return Members(kind)
}

// fields are the attributes of a value that a constructor makes.
func fields(constructor *Symbol) []*Symbol {
	var out []*Symbol
	for _, p := range constructor.Params {
		out = append(out, &Symbol{Name: p.Name, Kind: Field, Signature: p.Text, Doc: "A field of " + constructor.Name + "."})
	}
	return out
}

// builtinType is the built-in name whose members those of chain are: chain itself, or
// the type of the value that it has, as far as its text tells.
func (f *File) builtinType(l Loader, offset int, chain string) string {
	s := f.plain(offset, chain)
	if s == nil || strings.Contains(chain, ".") {
		return chain
	}
	if s.Label != "" {
		s = f.loaded(l, s)
	}
	if s.Kind == Parameter && s.value == "" && s.Name == "t" && starfiles.IsTest(f.Name) {
		return testType // by convention, for helpers and subtests, too
	}
	return valueType(s)
}

// valueType tells the type of a value from the text that makes it.
func valueType(s *Symbol) string {
	text := strings.TrimSpace(s.value)
	if s.Kind == Parameter {
		return cmp.Or(component.Members(text), "?")
	}
	switch {
	case text == "":
		return "?"
	case quotesAt(text) >= 0:
		return "string"
	case text[0] == '[':
		return "list"
	case text[0] == '{':
		return "dict"
	}
	name, _, call := strings.Cut(text, "(")
	if known := map[string]string{"str": "string", "list": "list", "sorted": "list", "dict": "dict", "set": "set"}[name]; call && known != "" {
		return known
	}
	if call && Builtin(name) != nil && Builtin(name).Kind == Type {
		return name
	}
	return "?"
}
