package analysis

import (
	"strings"

	"go.starlark.net/syntax"

	"torchx/starlark/component"
	"torchx/starlark/interp"
)

// Globals lists the definitions and loads of the file in order, each name once.
func (f *File) Globals() []*Symbol { return f.globals }

// Global returns the symbol of a global name, or nil.
func (f *File) Global(name string) *Symbol { return f.byName[name] }

// Exports lists the names that other files can load.
func (f *File) Exports() []*Symbol {
	var out []*Symbol
	for _, s := range f.globals {
		if s.Label == "" && !Private(s.Name) {
			out = append(out, s)
		}
	}
	return out
}

func (f *File) add(s *Symbol) {
	if f.byName[s.Name] == nil {
		f.byName[s.Name] = s
		f.globals = append(f.globals, s)
	}
}

func (f *File) readGlobals() {
	for _, p := range f.parts {
		f.globalsIn(p, p.stmts)
	}
}

func (f *File) globalsIn(p *part, stmts []syntax.Stmt) {
	for _, stmt := range stmts {
		switch s := stmt.(type) {
		case *syntax.LoadStmt:
			f.loads(s)
		case *syntax.DefStmt:
			f.add(f.function(s, p.doc(s)))
		case *syntax.AssignStmt:
			f.assigned(s.LHS, s)
		case *syntax.ForStmt:
			f.assigned(s.Vars, s)
			f.globalsIn(p, s.Body)
		case *syntax.IfStmt:
			f.globalsIn(p, s.True)
			f.globalsIn(p, s.False)
		}
	}
}

func (f *File) loads(s *syntax.LoadStmt) {
	for i, to := range s.To {
		sym := f.newSymbol(to, s)
		sym.Kind, sym.Label, sym.Original = Variable, s.ModuleName(), s.From[i].Name
		sym.Signature = "load(" + s.Module.Raw + ", " + sym.Original + ")"
		f.add(sym)
	}
}

// assigned adds the names on the left side of an assignment or loop.
func (f *File) assigned(lhs syntax.Expr, stmt syntax.Stmt) {
	for _, name := range interp.Targets(lhs) {
		sym := f.newSymbol(name, stmt)
		sym.Kind = variableKind(name.Name)
		sym.Signature = firstLine(f.Text[sym.From:sym.To])
		if a, ok := stmt.(*syntax.AssignStmt); ok && a.LHS == syntax.Expr(name) {
			from, to := f.span(a.RHS)
			sym.value = f.Text[from:to]
			sym.Doc = f.commentAbove(sym.From)
		}
		f.add(sym)
	}
}

// variableKind returns Constant for names in upper case, else Variable.
func variableKind(name string) Kind {
	if name == strings.ToUpper(name) && strings.ToLower(name) != name {
		return Constant
	}
	return Variable
}

// newSymbol returns the symbol of a definition in this file.
func (f *File) newSymbol(name *syntax.Ident, def syntax.Node) *Symbol {
	start := f.Offset(name.NamePos)
	from, to := f.span(def)
	return &Symbol{Name: name.Name, Definition: Definition{f, start, start + len(name.Name), from, to}}
}

// span returns the start and end offset of a node.
func (f *File) span(n syntax.Node) (from, to int) {
	start, end := n.Span()
	from = f.Offset(start)
	return from, max(from, f.Offset(end))
}

// commentAbove returns the comment directly above an offset.
func (f *File) commentAbove(offset int) string {
	line, _ := f.LineCol(offset)
	var out []string
	for line--; line >= 0; line-- {
		text, ok := strings.CutPrefix(strings.TrimSpace(f.Line(line)), "#")
		if !ok {
			break
		}
		out = append([]string{strings.TrimSpace(text)}, out...)
	}
	return strings.Join(out, "\n")
}

// maxSignature bounds the one-line form of a definition, in bytes.
const maxSignature = 100

// firstLine returns the beginning of a text, on one line.
func firstLine(text string) string {
	line, rest, _ := strings.Cut(text, "\n")
	if rest != "" || len(line) > maxSignature {
		line = strings.TrimRight(line[:min(len(line), maxSignature)], " ") + " …"
	}
	return strings.ToValidUTF8(line, "")
}

func (f *File) function(def *syntax.DefStmt, doc component.Doc) *Symbol {
	s := f.newSymbol(def.Name, def)
	s.Kind, s.Callable = Function, true
	s.Params = f.params(def, doc)
	s.Signature = "def " + s.Name + "(" + declared(s.Params) + ")"
	s.Doc = doc.Text
	if list := argsText(s.Params); list != "" {
		s.Doc = strings.TrimSpace(s.Doc + "\n\n" + list)
	}
	return s
}

// declared joins parameters as in the head of a function.
func declared(params []Param) string {
	texts := make([]string, len(params))
	for i := range params {
		texts[i] = params[i].Text
	}
	return strings.Join(texts, ", ")
}

// argsText returns a list of the documented parameters.
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

func (f *File) params(def *syntax.DefStmt, doc component.Doc) []Param {
	var out []Param
	for _, p := range interp.Params(def) {
		out = append(out, f.param(p, doc))
	}
	return out
}

func (f *File) param(p interp.Param, doc component.Doc) Param {
	out := Param{
		Name: p.Name, Text: p.Star + p.Name, Star: p.Star != "",
		Keyword: p.Keyword, Required: p.Star == "" && p.Default == nil,
	}
	if p.Default != nil {
		from, to := f.span(p.Default)
		out.Text += " = " + shortened(f.Text[from:to])
	}
	out.describe(doc)
	return out
}

// describe adds the documentation of the parameter.
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

// shortened returns a default on one short line.
func shortened(text string) string {
	const limit = 40
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}
