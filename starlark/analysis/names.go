package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"torchx/starlark/component"
	"torchx/starlark/interp"
	"torchx/starlark/starfiles"
)

// names resolves the identifiers of a tree where their meaning is certain: built-in names, and
// names that are bound once.
type names struct {
	file *File
	// By the first binding use of a name: the number of bindings, and the value.
	bound  map[*syntax.Ident]int
	values map[*syntax.Ident]syntax.Node // *DefStmt, *LoadStmt or the assigned Expr
	tests  map[*syntax.Ident]bool        // the parameters of test functions
	tested map[string]bool               // attributes that hasattr() checks
	// Caches by the called object.
	functions  map[*syntax.DefStmt]*Symbol
	loaded     map[string]*Symbol
	signatures map[*Symbol]*signature
	depth      int // recursion depth of members
}

// maxDepth bounds the recursion of members: x = x and a.a.a… have no end.
const maxDepth = 8

func namesOf(f *File, tree *syntax.File) *names {
	n := &names{
		file: f, bound: map[*syntax.Ident]int{}, values: map[*syntax.Ident]syntax.Node{}, tests: map[*syntax.Ident]bool{},
		tested: map[string]bool{}, functions: map[*syntax.DefStmt]*Symbol{}, loaded: map[string]*Symbol{}, signatures: map[*Symbol]*signature{},
	}
	syntax.Walk(tree, func(node syntax.Node) bool {
		switch s := node.(type) {
		case *syntax.DefStmt:
			n.bind(s.Name, s)
			n.params(s.Params)
		case *syntax.LambdaExpr:
			n.params(s.Params)
		case *syntax.LoadStmt:
			for _, to := range s.To {
				n.bind(to, s)
			}
		case *syntax.AssignStmt:
			n.assign(s)
		case *syntax.CallExpr:
			n.hasattr(s)
		case *syntax.ForStmt:
			n.targets(s.Vars)
		case *syntax.ForClause:
			n.targets(s.Vars)
		}
		return true
	})
	if starfiles.IsTest(f.Name) {
		n.testParams(tree.Stmts)
	}
	return n
}

func (n *names) bind(id *syntax.Ident, value syntax.Node) {
	if b, ok := id.Binding.(*resolve.Binding); ok && b.First != nil {
		n.bound[b.First]++
		n.values[b.First] = value
	}
}

// params binds parameters to an unknown value.
func (n *names) params(list []syntax.Expr) {
	for _, p := range list {
		switch e := p.(type) {
		case *syntax.BinaryExpr:
			p = e.X
		case *syntax.UnaryExpr:
			p = e.X
		}
		n.targets(p)
	}
}

func (n *names) assign(s *syntax.AssignStmt) {
	if id, ok := s.LHS.(*syntax.Ident); ok && s.Op == syntax.EQ {
		n.bind(id, s.RHS)
		return
	}
	n.targets(s.LHS)
}

// targets binds the names on a left side to an unknown value.
func (n *names) targets(e syntax.Expr) {
	for _, id := range interp.Targets(e) {
		n.bind(id, nil)
	}
}

// hasattr records an attribute that the file tests for.
func (n *names) hasattr(call *syntax.CallExpr) {
	if fn, ok := call.Fn.(*syntax.Ident); !ok || len(call.Args) < 2 || fn.Name != "hasattr" &&
		fn.Name != "getattr" {
		return
	}
	if literal, ok := call.Args[1].(*syntax.Literal); ok && literal.Token == syntax.STRING {
		n.tested[literal.Value.(string)] = true
	}
}

// testParams finds the parameter t of each test function.
func (n *names) testParams(stmts []syntax.Stmt) {
	for _, s := range stmts {
		if def, ok := s.(*syntax.DefStmt); ok && strings.HasPrefix(def.Name.Name, "test_") &&
			len(def.Params) == 1 {
			if id, ok := def.Params[0].(*syntax.Ident); ok {
				n.tests[id] = true
			}
		}
	}
}

// builtin returns the full name of a built-in that an expression refers to, such as "specs.Role",
// "len" or "test.eq", else "".
func (n *names) builtin(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Ident:
		b, ok := e.Binding.(*resolve.Binding)
		if ok && (b.Scope == resolve.Predeclared || b.Scope == resolve.Universal) {
			return e.Name
		}
		return ""
	case *syntax.DotExpr:
		if of := n.members(e.X); of != "" {
			return of + "." + e.Name.Name
		}
	}
	return ""
}

// members returns the built-in name whose members an expression has: a module, or the type of its
// value; else "".
func (n *names) members(e syntax.Expr) string {
	if n.depth >= maxDepth {
		return ""
	}
	n.depth++
	defer func() { n.depth-- }()
	switch x := e.(type) {
	case *syntax.ParenExpr:
		return n.members(x.X)
	case *syntax.Literal:
		if x.Token == syntax.STRING {
			return "string"
		}
	case *syntax.ListExpr:
		return "list"
	case *syntax.DictExpr:
		return "dict"
	case *syntax.Comprehension:
		if x.Curly {
			return "dict"
		}
		return "list"
	case *syntax.CallExpr:
		return n.result(x)
	case *syntax.Ident:
		if b, ok := x.Binding.(*resolve.Binding); ok && n.tests[b.First] && n.bound[b.First] == 1 {
			return testType
		}
		if value, ok := n.value(x).(syntax.Expr); ok {
			return n.members(value)
		}
	}
	if name := n.builtin(e); hasMembers(name) {
		return name
	}
	return ""
}

// hasMembers reports whether a built-in name is a module, a type, or specs.Resource.
func hasMembers(name string) bool {
	return slices.Contains(modules, name) ||
		slices.Contains([]string{"torchx.py", "specs.Resource", "list", "dict", "set"}, name)
}

// result returns the type of the result of a built-in function, or "" if unknown.
func (n *names) result(call *syntax.CallExpr) string {
	name := n.builtin(call.Fn)
	if s := Builtin(name); s != nil && s.Kind == Type {
		return name + valueMark
	}
	return resultTypes[name]
}

// resultTypes are the result types of built-in functions.
var resultTypes = map[string]string{"str": "string", "list": "list", "sorted": "list", "dict": "dict", "set": "set"}

// value returns the value of a name, nil if it is not certain.
func (n *names) value(id *syntax.Ident) syntax.Node {
	b, ok := id.Binding.(*resolve.Binding)
	if !ok || b.First == nil || n.bound[b.First] != 1 {
		return nil
	}
	return n.values[b.First]
}

// called returns the symbol of the called function and its name, nil if it is not certain.
func (n *names) called(o Opener, fn syntax.Expr) (s *Symbol, name string) {
	if name := n.builtin(fn); name != "" {
		return Builtin(name), name
	}
	id, ok := fn.(*syntax.Ident)
	if !ok {
		return nil, ""
	}
	switch v := n.value(id).(type) {
	case *syntax.DefStmt:
		if n.functions[v] == nil {
			n.functions[v] = n.file.function(v, component.Doc{})
		}
		return n.functions[v], id.Name
	case *syntax.LoadStmt:
		if s := n.file.Global(id.Name); s != nil && s.Label != "" && o != nil {
			if n.loaded[id.Name] == nil {
				n.loaded[id.Name] = n.file.loaded(o, s)
			}
			return n.loaded[id.Name], id.Name
		}
	case syntax.Expr:
		return Builtin(n.builtin(v)), id.Name
	}
	return nil, ""
}

func (n *names) signature(fn *Symbol) *signature {
	if n.signatures[fn] == nil {
		n.signatures[fn] = newSignature(fn)
	}
	return n.signatures[fn]
}
