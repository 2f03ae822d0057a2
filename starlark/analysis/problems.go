package analysis

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"

	"torchx/runtime/suggest"
)

// Problem is an error that running the file would show.
type Problem struct {
	From, To int
	Text     string // one line
}

// Problems lists failing loads and calls with wrong arguments. Lint finds the problems inside one
// file.
func (f *File) Problems(l Loader) []Problem {
	p := &problems{file: f, loader: l}
	syntax.Walk(f.tree, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.LoadStmt:
			p.load(n)
		case *syntax.CallExpr:
			p.call(n)
		}
		return true
	})
	return p.found
}

type problems struct {
	file   *File
	loader Loader
	found  []Problem
}

func (p *problems) add(n syntax.Node, format string, args ...any) {
	from, to := p.file.span(n)
	p.found = append(p.found, Problem{from, to, fmt.Sprintf(format, args...)})
}

// load reports a file that cannot be loaded, and missing names.
func (p *problems) load(s *syntax.LoadStmt) {
	from, err := p.loader.Load(p.file, s.ModuleName())
	if err != nil {
		p.add(s.Module, "%v", err)
		return
	}
	if p.reaches(from, map[string]bool{}) {
		p.add(s.Module, "load cycle: %s loads this file; move what both need to a file of its own", from.Name)
	}
	var names []string
	for _, e := range from.Exports() {
		names = append(names, e.Name)
	}
	for i, name := range s.From {
		switch {
		case Private(name.Name):
			p.add(s.From[i], "%s is private to %s: names that begin with _ cannot be loaded", name.Name, from.Name)
		case !slices.Contains(names, name.Name) && from.Err == nil:
			p.add(s.From[i], "%s has no %s.%s", from.Name, name.Name, suggest.Hint(name.Name, names))
		}
	}
}

// maxLoads bounds the files in the search for a cycle.
const maxLoads = 2000

// reaches reports whether a file loads the checked one, directly or not.
func (p *problems) reaches(from *File, seen map[string]bool) bool {
	if p.file.Source == nil || from.Source == nil || len(seen) > maxLoads {
		return false
	}
	key := from.Source.Key()
	if key == p.file.Source.Key() || seen[key] {
		return !seen[key]
	}
	seen[key] = true
	labels := map[string]bool{}
	for _, s := range from.globals {
		if s.Label == "" || labels[s.Label] {
			continue
		}
		labels[s.Label] = true
		if next, err := p.loader.Load(from, s.Label); err == nil && p.reaches(next, seen) {
			return true
		}
	}
	return false
}

// call reports unknown and missing arguments.
func (p *problems) call(call *syntax.CallExpr) {
	name, start := p.callee(call.Fn)
	if name == "" {
		return
	}
	fn := p.file.Lookup(p.loader, start, name)
	if fn == nil || !fn.Callable {
		return
	}
	given, complete := p.arguments(call, fn, name)
	if !complete {
		return
	}
	for _, param := range fn.Params {
		if param.Required && !given[param.Name] {
			p.add(call.Fn, "%s needs the argument %s", name, param.Name)
		}
	}
}

// arguments checks and lists the named arguments; complete is false if only running the call can
// tell all.
func (p *problems) arguments(call *syntax.CallExpr, fn *Symbol, name string) (given map[string]bool, complete bool) {
	var names []string
	anything := false
	for _, param := range fn.Params {
		if !param.Star {
			names = append(names, param.Name)
		}
		anything = anything || len(param.Text) > 2 && param.Text[:2] == "**"
	}
	given, complete = map[string]bool{}, true
	for i, arg := range call.Args {
		switch arg := arg.(type) {
		case *syntax.BinaryExpr:
			ident, ok := arg.X.(*syntax.Ident)
			if arg.Op != syntax.EQ || !ok {
				p.positional(fn, i, given)
				continue
			}
			given[ident.Name] = true
			if !anything && !slices.Contains(names, ident.Name) {
				p.add(ident, "%s has no argument %s.%s", name, ident.Name, suggest.Hint(ident.Name, names))
			}
		case *syntax.UnaryExpr:
			if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
				complete = false
				continue
			}
			p.positional(fn, i, given)
		default:
			p.positional(fn, i, given)
		}
	}
	return given, complete
}

func (p *problems) positional(fn *Symbol, i int, given map[string]bool) {
	if i < len(fn.Params) {
		given[fn.Params[i].Name] = true
	}
}

// callee is the dotted name of a called function, or "".
func (p *problems) callee(e syntax.Expr) (name string, start int) {
	switch e := e.(type) {
	case *syntax.Ident:
		return e.Name, p.file.Offset(e.NamePos)
	case *syntax.DotExpr:
		if before, start := p.callee(e.X); before != "" {
			return before + "." + e.Name.Name, start
		}
	}
	return "", 0
}
