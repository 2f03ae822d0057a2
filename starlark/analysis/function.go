package analysis

import (
	"strings"

	"go.starlark.net/syntax"

	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// function describes a function of this file.
func (f *File) function(def *syntax.DefStmt, doc component.Doc) *Symbol {
	s := f.named(def.Name, def)
	s.Kind, s.Callable = Function, true
	for _, p := range def.Params {
		if param, ok := f.param(p, doc); ok {
			s.Params = append(s.Params, param)
		}
	}
	s.Signature = "def " + s.Name + "(" + declared(s.Params) + ")"
	s.Doc = doc.Text
	if list := argsText(s.Params); list != "" {
		s.Doc = strings.TrimSpace(s.Doc + "\n\n" + list)
	}
	return s
}

// declared joins parameters as a function's head has them.
func declared(params []Param) string {
	texts := make([]string, len(params))
	for i := range params {
		texts[i] = params[i].Text
	}
	return strings.Join(texts, ", ")
}

// argsText is a list of the parameters that are described.
func argsText(params []Param) string {
	var b strings.Builder
	for i := range params {
		if params[i].Doc != "" {
			b.WriteString("- `" + params[i].Name + "` " + params[i].Doc + "\n")
		}
	}
	return b.String()
}

// doc parses the docstring of a function, once.
func (p *part) doc(def *syntax.DefStmt) component.Doc {
	doc, known := p.docs[def]
	if !known {
		if literal := interp.Docstring(def.Body); literal != nil {
			doc = component.ParseDoc(literal.Value.(string))
		}
		p.docs[def] = doc
	}
	return doc
}

// param describes one parameter; a bare * is none.
func (f *File) param(e syntax.Expr, doc component.Doc) (Param, bool) {
	p := Param{Required: true}
	switch e := e.(type) {
	case *syntax.Ident:
		p.Name, p.Text = e.Name, e.Name
	case *syntax.BinaryExpr:
		from, to := f.span(e.Y)
		p.Name, p.Required = e.X.(*syntax.Ident).Name, false
		p.Text = p.Name + " = " + shortened(f.Text[from:to])
	case *syntax.UnaryExpr:
		name, ok := e.X.(*syntax.Ident)
		if !ok {
			return p, false
		}
		p.Name, p.Star, p.Required = name.Name, true, false
		p.Text = e.Op.String() + p.Name
	}
	p.describe(doc)
	return p, true
}

// describe adds what the docstring says.
func (p *Param) describe(doc component.Doc) {
	a, _ := doc.Arg(p.Name)
	var parts []string
	if a.Type != "" {
		parts = append(parts, "("+a.Type+")")
		if t, err := component.ParseType(a.Type); err == nil {
			p.Choices, p.Resource = t.Choices, t.NamesResource()
		}
	}
	if a.Help != "" {
		parts = append(parts, a.Help)
	}
	p.Doc = strings.Join(parts, " ")
}

// shortened is a default on one line, of a length that leaves a head readable.
func shortened(text string) string {
	const limit = 40
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
