package migrate

import (
	"cmp"
	_ "embed" // the table
	"fmt"
	"math"
	"strings"
	"sync"

	"torchx/starlark/specmodule"
)

// porter ports one file.
type porter struct {
	name     string
	folders  Folders
	comments []comment // not yet written
	stars    []star
	imports  map[string]string  // local names of imports to full names in Python
	globals  map[string]*global // definitions of the file
	bound    map[string]bool    // every name that is assigned anywhere in the file
	called   map[string]bool    // every name that is called
	known    map[string]string  // the predeclared names that ports may use, "specs.Role", to their signatures
	usages   map[*node]*usage
	peeks    map[peeked]typ // cached types of expressions; cleared when types of variables change

	scope *scope // nil at the top of the file
	at    *node  // the statement that is being ported
	depth int    // of expressions
	quiet int    // problems are dropped
	work  int    // number of expressions visited
	// unordered: the result of the iteration does not depend on its order.
	unordered bool
	shows     bool // the expression is only shown to the user
	out       output
}

// output is what the port has besides its statements.
type output struct {
	problems   []Problem
	notes      []Problem
	hints      []Problem
	refused    []Problem // components that TorchX refuses, too
	components []string
	prelude    map[string]bool   // helpers that the port needs
	aliases    map[string]bool   // predeclared names that are hidden somewhere
	loads      map[string]string // "dist.ddp" to the name it is loaded as
}

func newPorter(name string, d *dumped) *porter {
	p := &porter{
		name: name, comments: d.Comments, stars: d.Stars, imports: d.Imports, globals: map[string]*global{}, bound: map[string]bool{}, called: map[string]bool{},
		known: map[string]string{}, usages: map[*node]*usage{}, peeks: map[peeked]typ{},
		out: output{prelude: map[string]bool{}, aliases: map[string]bool{}, loads: map[string]string{}},
	}
	for name, full := range p.imports {
		p.imports[name] = canonical(full)
	}
	p.checkStars(0, math.MaxInt)
	for full, doc := range specmodule.Docs() {
		p.known[full] = doc.Signature
	}
	walk(d.Tree, func(n *node) bool {
		for _, name := range n.Binds {
			p.bound[name] = true
		}
		if n.Kind == "Call" || n.Kind == "keyword" { // default_factory = list
			p.called[nameOf(n.Func)], p.called[nameOf(n.Value)] = true, true
		}
		return true
	})
	return p
}

// checkStars finds `from … import *` in some lines.
func (p *porter) checkStars(first, last int) {
	for _, s := range p.stars {
		if s.Module != "typing" && first <= s.Line && s.Line <= last {
			msg := "`from " + s.Module + " import *` brings unknown names: import them one by one"
			p.out.problems = append(p.out.problems, Problem{File: p.name, Line: s.Line, Msg: msg})
		}
	}
}

// fail notes a place that cannot be ported, and returns a placeholder.
func (p *porter) fail(n *node, format string, args ...any) value {
	p.out.problems = append(p.out.problems, Problem{File: cmp.Or(n.File, p.name), Line: n.Line, Msg: fmt.Sprintf(format, args...)})
	return primary("None", of(aProblem))
}

func (p *porter) note(line int, format string, args ...any) {
	p.out.notes = append(p.out.notes, Problem{File: p.name, Line: line, Msg: fmt.Sprintf(format, args...)})
}

func (p *porter) hint(line int, format string, args ...any) {
	p.out.hints = append(p.out.hints, Problem{File: p.name, Line: line, Msg: fmt.Sprintf(format, args...)})
}

// quietly calls f, drops the problems that it finds, and returns the first.
func (p *porter) quietly(f func()) (problem string) {
	before := len(p.out.problems)
	p.quiet++
	f()
	p.quiet--
	if len(p.out.problems) > before {
		problem = p.out.problems[before].Msg
	}
	p.out.problems = p.out.problems[:before]
	return problem
}

// peek returns the type of an expression and ignores its problems.
func (p *porter) peek(n *node) typ {
	key := peeked{n, p.scope, p.unordered}
	t, ok := p.peeks[key]
	if !ok {
		p.quietly(func() { t = p.expr(n).typ })
		p.peeks[key] = t
	}
	return t
}

// peeked is the key of a cached type: an expression has one type for each scope and order.
type peeked struct {
	node      *node
	scope     *scope
	unordered bool
}

//go:embed refusals.txt
var refusalsText string

// refusals returns the messages of refusals.txt by their keys.
var refusals = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(refusalsText) {
		if key, text, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && key[0] != '#' {
			out[key] = text
		}
	}
	return out
})

// refuse notes a place that cannot be ported, with the message of a key of refusals.
func (p *porter) refuse(n *node, key string) value { return p.fail(n, "%s", refusals()[key]) }

// unsupported refuses a construct that is never ported.
func (p *porter) unsupported(n *node) value {
	if s, ok := refusals()[n.Kind]; ok {
		return p.fail(n, "%s", s)
	}
	return p.fail(n, "%s has no counterpart in Starlark", n.Kind)
}

// refuseName refuses an imported name.
func (p *porter) refuseName(n *node, full string) value {
	root, _, _ := strings.Cut(full, ".")
	key := "other"
	switch {
	case strings.HasPrefix(full, "."):
		key = "own file"
	case strings.Contains(" os pathlib subprocess shutil socket platform sys tempfile glob yaml configparser inspect importlib ", " "+root+" "):
		key = "os"
	case strings.Contains(" random time datetime uuid secrets ", " "+root+" "):
		key = "random"
	case root == "re":
		key = "re"
	case strings.Contains(" typing math json string shlex copy dataclasses enum collections itertools functools ", " "+root+" "):
		return p.fail(n, "%s has no counterpart in a component file: write its code here", full)
	case root == "torchx":
		return p.fail(n, "%s has no counterpart in a component file", full)
	}
	return p.fail(n, "%s has no counterpart in a component file: %s", full, refusals()[key])
}
