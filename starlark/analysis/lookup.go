package analysis

import (
	"cmp"
	"slices"
	"strings"

	"torchx/starlark/component"
	"torchx/starlark/starfiles"
	"torchx/starlark/token"
)

// Opener opens the files of load().
type Opener interface {
	// Load returns the file of a label in from.
	Load(from *File, label string) (*File, error)
}

// Loader is an Opener that also lists completions.
type Loader interface {
	Opener
	// Entries completes a label in from, up to its last "/", with files and folders; folders end
	// with "/".
	Entries(from *File, folder string) []string
	// Roots lists the labels of libraries: "@torchx//", "@name//".
	Roots(from *File) []string
	// Resources lists the named resources of a file's project.
	Resources(from *File) []string
}

// Lookup returns the symbol of a dotted name at an offset, or nil. Loaded names come from their
// file.
func (f *File) Lookup(l Opener, offset int, name string) *Symbol {
	first, rest, dotted := strings.Cut(name, ".")
	s := f.lookupInFile(offset, first)
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

// lookupInFile returns the symbol of a name without dots, or nil.
func (f *File) lookupInFile(offset int, name string) *Symbol {
	locals := f.Locals(offset)
	if i := slices.IndexFunc(locals, func(s *Symbol) bool { return s.Name == name }); i >= 0 {
		return locals[i]
	}
	return f.Global(name)
}

// loaded returns the symbol that a load() refers to, or s if it is not found.
func (f *File) loaded(l Opener, s *Symbol) *Symbol {
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

// MembersOf lists the members of a name, or of a literal's type such as "string".
func (f *File) MembersOf(l Opener, offset int, chain string) []*Symbol {
	kind := f.builtinType(l, offset, chain)
	if s := Builtin(kind); s != nil && s.Kind == Type && kind != chain {
		return fields(s)
	}
	return Members(kind)
}

// fields returns the attributes of a constructor's values.
func fields(constructor *Symbol) []*Symbol {
	var out []*Symbol
	for _, p := range constructor.Params {
		if p.Keyword { // stored in another field
			continue
		}
		out = append(out, &Symbol{Name: p.Name, Kind: Field, Signature: p.Text, Doc: "A field of " + constructor.Name + "."})
	}
	return out
}

// builtinType returns the built-in name whose members chain has: chain itself, or the type of its
// value.
func (f *File) builtinType(l Opener, offset int, chain string) string {
	s := f.lookupInFile(offset, chain)
	if s == nil || strings.Contains(chain, ".") {
		return chain
	}
	if s.Label != "" {
		s = f.loaded(l, s)
	}
	if s.Kind == Parameter && s.value == "" && s.Name == "t" && starfiles.IsTest(f.Name) {
		return testType // by convention, also in helpers and subtests
	}
	return valueType(s)
}

// valueType infers the type of a value from its text.
func valueType(s *Symbol) string {
	text := strings.TrimSpace(s.value)
	if s.Kind == Parameter {
		return cmp.Or(component.Members(text), "?")
	}
	switch {
	case text == "":
		return "?"
	case token.QuotesAt(text) >= 0:
		return "string"
	case text[0] == '[':
		return "list"
	case text[0] == '{':
		return "dict"
	}
	name, _, call := strings.Cut(text, "(")
	if known := resultTypes[name]; call && known != "" {
		return known
	}
	if call && Builtin(name) != nil && Builtin(name).Kind == Type {
		return name
	}
	return "?"
}

// Reference is a word in the text and its symbol.
type Reference struct {
	*Symbol
	From, To int
	// Loaded is the file if the word is the label of a load(); then Symbol is nil.
	Loaded *File
}

// Reference returns the symbol of the word at an offset, or nil.
func (f *File) Reference(l Loader, offset int) *Reference {
	c := f.At(offset)
	r := &Reference{From: c.Start, To: c.End}
	switch {
	case c.Region == InString:
		f.loadedText(l, &c, r)
	case c.Region == InComment || c.Start == c.End:
	case c.Keyword:
		r.Symbol = f.argument(l, &c)
	case c.Chain != "":
		r.Symbol = f.member(l, offset, &c)
	default:
		r.Symbol = f.Lookup(l, offset, f.Text[c.Start:c.End])
	}
	if r.Symbol == nil && r.Loaded == nil {
		return nil
	}
	return r
}

func (f *File) member(l Loader, offset int, c *Cursor) *Symbol {
	name := f.Text[c.Start:c.End]
	if s := f.Lookup(l, offset, c.Chain+"."+name); s != nil {
		return s
	}
	for _, s := range f.MembersOf(l, offset, c.Chain) {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// loadedText resolves a string of a load() statement.
func (f *File) loadedText(l Loader, c *Cursor, r *Reference) {
	n := len(c.Brackets)
	if n == 0 || c.Brackets[n-1].Callee != "load" {
		return
	}
	text := f.Text[c.Start:c.End]
	b := c.Brackets[n-1]
	if b.Index == 0 {
		if loaded, err := l.Load(f, text); err == nil {
			r.Loaded = loaded
		}
		return
	}
	if len(b.Texts) == 0 {
		return
	}
	if loaded, err := l.Load(f, b.Texts[0]); err == nil {
		r.Symbol = loaded.Global(text)
	}
}

// argument returns the parameter of a named argument.
func (f *File) argument(l Loader, c *Cursor) *Symbol {
	call := c.Call()
	name := f.Text[c.Start:c.End]
	fn := f.Lookup(l, call.CalleeStart, call.Callee)
	if fn == nil {
		return nil
	}
	i := slices.IndexFunc(fn.Params, func(p Param) bool { return p.Name == name && !p.Star })
	if i < 0 {
		return nil
	}
	s := &Symbol{Name: name, Kind: Parameter, Signature: fn.Params[i].Text, Doc: fn.Params[i].Doc}
	if fn.File != nil {
		for _, localSymbol := range fn.File.Locals(fn.End) {
			if localSymbol.Name == name && localSymbol.Kind == Parameter {
				s.File, s.Start, s.End, s.From, s.To = fn.File, localSymbol.Start, localSymbol.End, localSymbol.From, localSymbol.To
			}
		}
	}
	return s
}
