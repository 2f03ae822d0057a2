package analysis

import "slices"

// Reference is what the word at an offset means, and where the word is.
type Reference struct {
	*Symbol
	From, To int
	// Loaded is the file that the word, the label of a load(), names; there is no
	// Symbol then.
	Loaded *File
}

// Reference tells what the word at an offset means; nil for nothing that is known.
func (f *File) Reference(l Loader, offset int) *Reference {
	c := f.At(offset)
	r := &Reference{From: c.Start, To: c.End}
	switch {
	case c.Place == InString:
		f.loadedText(l, &c, r)
	case c.Place == InComment || c.Start == c.End:
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

// loadedText is what a string of a load() statement names.
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

// argument is the parameter that a named argument of a call is for.
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
		for _, local := range fn.File.Locals(fn.End) {
			if local.Name == name && local.Kind == Parameter {
				s.File, s.Start, s.End, s.From, s.To = fn.File, local.Start, local.End, local.From, local.To
			}
		}
	}
	return s
}
