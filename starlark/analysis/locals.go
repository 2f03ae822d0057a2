package analysis

import (
	"torchx/starlark/component"
	"torchx/starlark/token"
)

// Locals lists the parameters, variables and functions of the functions around an offset, innermost
// first.
func (f *File) Locals(offset int) []*Symbol {
	var out []*Symbol
	seen := map[string]bool{}
	add := func(s *Symbol) {
		if !seen[s.Name] {
			seen[s.Name] = true
			out = append(out, s)
		}
	}
	at := f.lineAt(offset)
	if at < 0 {
		return nil
	}
	f.loopVars(f.lines[at], f.tokens[f.lines[at].first].Start, add)
	for _, def := range f.enclosing(offset, at) {
		for _, s := range f.definedIn(def) {
			add(s)
		}
	}
	return out
}

// definedIn lists the definitions of the function with the head def, a line. The result is cached.
func (f *File) definedIn(def int) []*Symbol {
	f.mu.Lock()
	defer f.mu.Unlock()
	known, ok := f.locals[def]
	if !ok {
		add := func(s *Symbol) { known = append(known, s) }
		f.parameters(f.lines[def], add)
		f.bodySymbols(def, add)
		f.locals[def] = known
	}
	return known
}

// enclosing lists the heads of the functions around an offset after the start of line at, innermost
// first.
func (f *File) enclosing(offset, at int) []int {
	l := f.lines[at]
	def, indent := f.parents[at], l.indent
	if f.is(l.first, "def") {
		def = at
	}
	switch {
	case offset > f.tokens[l.end-1].End:
		indent = f.cursorIndent(offset, indent)
	case def == at:
		indent++ // parameters are also in scope in the head
	}
	var out []int
	for ; def >= 0; def = f.parents[def] {
		if f.lines[def].indent < indent {
			out = append(out, def)
		}
	}
	return out
}

// functionHeads returns for each line the head of its innermost function, or -1.
func (f *File) functionHeads() []int {
	out := make([]int, len(f.lines))
	var open []int
	for i, l := range f.lines {
		for len(open) > 0 && f.lines[open[len(open)-1]].indent >= l.indent {
			open = open[:len(open)-1]
		}
		out[i] = -1
		if len(open) > 0 {
			out[i] = open[len(open)-1]
		}
		if f.is(l.first, "def") {
			open = append(open, i)
		}
	}
	return out
}

// cursorIndent returns the indentation of an offset on a line without code, else last.
func (f *File) cursorIndent(offset, last int) int {
	line, col := f.LineCol(offset)
	for i := range col {
		if c := f.Line(line)[i]; c != ' ' && c != '\t' {
			return last
		}
	}
	return col
}

// parameters adds the parameters of the function with the head l.
func (f *File) parameters(l logicalLine, add func(*Symbol)) {
	doc := f.docOf(l)
	depth := 0
	for i := l.first; i < l.end; i++ {
		t := f.tokens[i]
		if t.Kind == token.Op {
			if depth += t.Nesting; depth == 0 {
				return
			}
			continue
		}
		if depth != 1 || t.Kind != token.Name || !f.beginsParameter(i) {
			continue
		}
		s := f.localSymbol(i, Parameter)
		a, _ := doc.Arg(s.Name)
		p := Param{Name: s.Name}
		p.describe(doc)
		s.Doc, s.value, s.Signature = p.Doc, a.Type, f.parameterText(i, l.end)
		add(s)
	}
}

// beginsParameter reports whether the i-th token, a name in a function's head, names a parameter.
func (f *File) beginsParameter(i int) bool {
	return f.is(i-1, "(") || f.is(i-1, ",") || f.is(i-1, "*") || f.is(i-1, "**") ||
		f.isKind(i-1, token.Newline)
}

// parameterText returns the text of a parameter with its stars or default.
func (f *File) parameterText(i, end int) string {
	from := f.tokens[i].Start
	if f.is(i-1, "*") || f.is(i-1, "**") {
		from = f.tokens[i-1].Start
	}
	depth := 0
	for to := i; to < end; to++ {
		n := f.tokens[to].Nesting
		if depth == 0 && (n < 0 || f.is(to, ",")) {
			return shortened(f.Text[from:f.tokens[to].Start])
		}
		depth += n
	}
	return f.tokenText(f.tokens[i])
}

// docOf parses the docstring of the function with the head l.
func (f *File) docOf(l logicalLine) component.Doc {
	i := l.end
	for f.isKind(i, token.Newline) || f.isKind(i, token.Comment) {
		i++
	}
	if !f.isKind(i, token.String) {
		return component.Doc{}
	}
	from, to := f.content(f.tokens[i])
	return component.ParseDoc(f.Text[from:to])
}

// bodySymbols adds the definitions of a function, without those of inner functions. head is its
// def line.
func (f *File) bodySymbols(head int, add func(*Symbol)) {
	indent := f.lines[head].indent
	inner := -1 // the indentation of the inner function being skipped
	for _, l := range f.lines[head+1:] {
		if l.indent <= indent {
			return
		}
		if inner >= 0 && l.indent > inner {
			continue
		}
		inner = -1
		if f.is(l.first, "def") {
			inner = l.indent
			if f.isKind(l.first+1, token.Name) {
				s := f.localSymbol(l.first+1, Function)
				s.Signature = firstLine(f.Text[f.tokens[l.first].Start:f.tokens[l.end-1].End])
				add(s)
			}
			continue
		}
		f.assignedIn(l, add)
	}
}

// assignedIn adds the names that a statement assigns.
func (f *File) assignedIn(l logicalLine, add func(*Symbol)) {
	if f.is(l.first, "for") {
		f.loopVars(l, -1, add)
		return
	}
	depth := 0
	for i := l.first; i < l.end; i++ {
		depth += f.tokens[i].Nesting
		if depth == 0 && f.is(i, "=") {
			f.targets(l.first, i, func(s *Symbol) {
				s.Signature = firstLine(f.Text[f.tokens[l.first].Start:f.tokens[l.end-1].End])
				if i == l.first+1 && i+1 < l.end {
					s.value = f.Text[f.tokens[i+1].Start:f.tokens[l.end-1].End]
				}
				add(s)
			})
			return
		}
	}
}

// targets adds the plain names among the tokens [first, end) of the left side of an assignment.
func (f *File) targets(first, end int, add func(*Symbol)) {
	for i := first; i < end; i++ {
		if f.isKind(i, token.Name) && !f.is(i-1, ".") && !f.is(i+1, ".") &&
			!f.is(i+1, "[") && !f.is(i+1, "(") {
			add(f.localSymbol(i, Variable))
		}
	}
}

// loopVars adds the variables of a line's loops and comprehensions that begin after an offset.
func (f *File) loopVars(l logicalLine, after int, add func(*Symbol)) {
	for i := l.first; i < l.end; i++ {
		if !f.is(i, "for") || f.tokens[i].Start < after {
			continue
		}
		end := i + 1
		for end < l.end && !f.is(end, "in") {
			end++
		}
		f.targets(i+1, end, func(s *Symbol) {
			s.Signature = firstLine(f.Text[f.tokens[i].Start:f.tokens[l.end-1].End])
			add(s)
		})
	}
}

// localSymbol returns a symbol whose name is the i-th token.
func (f *File) localSymbol(i int, kind Kind) *Symbol {
	t := f.tokens[i]
	return &Symbol{Name: f.tokenText(t), Kind: kind, Definition: Definition{f, t.Start, t.End, t.Start, t.End}}
}
