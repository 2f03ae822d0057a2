package analysis

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"torchx/starlark/specmodule"
)

// attribute reports a member that does not exist in a module or a value of a known type.
func (p *problems) attribute(e *syntax.DotExpr) {
	of := p.names.members(e.X)
	if of == "" || p.names.tested[e.Name.Name] {
		return
	}
	var known []string
	for _, s := range membersOfType(of) {
		known = append(known, s.Name)
	}
	if !slices.Contains(known, e.Name.Name) {
		p.add(RuleAttribute, e.Name, "%s has no attribute %s.%s", typeText(of), e.Name.Name,
			p.hint(e.Name.Name, known))
	}
}

// valueMark ends the type of a value: "specs.Role()" has the fields of a specs.Role.
const valueMark = "()"

func membersOfType(of string) []*Symbol {
	if constructor, ok := strings.CutSuffix(of, valueMark); ok {
		return fields(Builtin(constructor))
	}
	return Members(of)
}

// typeText returns a type for a message.
func typeText(of string) string {
	switch constructor, value := strings.CutSuffix(of, valueMark); {
	case value:
		return "a value of " + constructor
	case of == testType:
		return "t"
	case slices.Contains([]string{"string", "list", "dict", "set"}, of):
		return "a " + of
	}
	return of
}

// fieldAssigned reports a change of an immutable value.
func (p *problems) fieldAssigned(s *syntax.AssignStmt) {
	dot, ok := s.LHS.(*syntax.DotExpr)
	if !ok {
		return
	}
	if constructor, value := strings.CutSuffix(p.names.members(dot.X), valueMark); value {
		p.add(RuleAttribute, dot.Name, "a value of %s cannot be changed: use specs.replace(value, %s = ...) to make a changed copy", constructor, dot.Name.Name)
	}
}

// call reports unknown, missing and surplus arguments.
func (p *problems) call(call *syntax.CallExpr) {
	fn, name := p.names.called(p.opener, call.Fn)
	if fn == nil || !fn.Callable {
		return
	}
	c := &callCheck{problems: p, signature: p.names.signature(fn), name: name, given: map[string]bool{}, complete: true}
	for _, arg := range call.Args {
		c.argument(arg)
	}
	for i := range fn.Params {
		if param := &fn.Params[i]; c.complete && param.Required && !c.given[param.Name] {
			p.add(RuleCall, call.Fn, "%s needs the argument %s", name, param.Name)
		}
	}
}

// signature describes the arguments that a function takes.
type signature struct {
	params     []Param
	names      []string       // of parameters that can be given by name
	index      map[string]int // of names in params
	positional int            // the number of positional arguments, unless rest is set
	rest, any  bool           // the function has *args, **kwargs
}

func newSignature(fn *Symbol) *signature {
	s := &signature{params: fn.Params, index: map[string]int{}}
	for i, p := range fn.Params {
		switch {
		case strings.HasPrefix(p.Text, "**"):
			s.any = true
		case p.Star:
			s.rest = true
		default:
			s.names = append(s.names, p.Name)
			s.index[p.Name] = i
			if !p.Keyword {
				s.positional++
			}
		}
	}
	return s
}

// callCheck compares the arguments of a call with the parameters of its function.
type callCheck struct {
	*problems
	*signature
	name  string
	given map[string]bool
	count int // the number of positional arguments
	// complete is false if the arguments are known only at run time.
	complete bool
}

func (c *callCheck) argument(arg syntax.Expr) {
	switch arg := arg.(type) {
	case *syntax.BinaryExpr:
		if id, ok := arg.X.(*syntax.Ident); ok && arg.Op == syntax.EQ {
			c.named(id)
			c.value(id.Name, arg.Y)
			return
		}
	case *syntax.UnaryExpr:
		if arg.Op == syntax.STAR || arg.Op == syntax.STARSTAR {
			c.complete = false
			return
		}
	}
	c.positionalArg(arg)
}

func (c *callCheck) named(id *syntax.Ident) {
	i, known := c.index[id.Name]
	switch {
	case known && i < min(c.count, c.positional):
		c.add(RuleCall, id, "%s is given the argument %s twice", c.name, id.Name)
	case !known && !c.any:
		c.add(RuleCall, id, "%s has no argument %s.%s", c.name, id.Name,
			c.hint(id.Name, c.signature.names))
	}
	c.given[id.Name] = true
}

func (c *callCheck) positionalArg(arg syntax.Expr) {
	switch {
	case c.count < c.positional:
		c.given[c.params[c.count].Name] = true
		c.value(c.params[c.count].Name, arg)
	case c.count == c.positional && !c.rest:
		noun := "arguments"
		if c.positional == 1 {
			noun = "argument"
		}
		c.add(RuleCall, arg, "%s takes at most %d positional %s", c.name, c.positional, noun)
	}
	c.count++
}

// value reports a literal of the wrong type for a field of a specs value.
func (c *callCheck) value(name string, e syntax.Expr) {
	if !strings.HasPrefix(c.name, "specs.") {
		return
	}
	if v := c.literal(e); v != nil {
		if err := specmodule.CheckArgument(c.name, name, v); err != nil {
			c.add(RuleCall, e, "%s: %v", c.name, err)
		}
	}
}
