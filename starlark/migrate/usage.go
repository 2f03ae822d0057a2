package migrate

import (
	"slices"
	"strings"
)

// usage is what a function does with its variables, by one walk through it.
type usage struct {
	bindings map[string][]node // what gives a variable a value, += aside
	reads    map[string][]read
	loops    []*pyFor
	calls    []*pyCall
	changes  []change
	aliases  map[string]string // variables to others that may be the same object
}

// read is a place that reads a variable, with the node around it.
type read struct {
	use    *pyName
	parent node
}

// change is a node that changes the list or dict of a variable.
type change struct {
	node node
	name string
}

// usage returns the usage of a function.
func (p *porter) usage(def *pyFunctionDef) *usage {
	u := p.usages[def]
	if u == nil {
		u = &usage{bindings: map[string][]node{}, reads: map[string][]read{}, aliases: map[string]string{}}
		u.visit(def)
		p.usages[def] = u
	}
	return u
}

func (u *usage) visit(n node) {
	targets := []node{}
	switch x := n.(type) {
	case *pyCall:
		u.calls = append(u.calls, x)
	case *pyFor:
		u.loops = append(u.loops, x)
		targets = append(targets, x.Target)
	case *pyComprehension:
		targets = append(targets, x.Target)
	case *pyAugAssign:
		targets = append(targets, x.Target)
	case *pyOther:
		targets = append(targets, x.Target)
	case *pyDelete:
		targets = x.Targets
	case *pyAssign:
		targets = x.Targets
		for _, t := range targets {
			if from, to := nameOf(x.Value), nameOf(t); from != "" && to != "" {
				u.aliases[u.root(to)] = u.root(from)
			}
		}
	}
	if n.at().Kind != "AugAssign" {
		for _, name := range n.at().Binds {
			u.bindings[name] = append(u.bindings[name], n)
		}
	}
	if name, ok := mutated(n); ok {
		u.changes = append(u.changes, change{n, name})
	}
	for _, c := range n.at().kids {
		if name, ok := c.(*pyName); ok && !slices.Contains(targets, c) {
			u.reads[name.ID] = append(u.reads[name.ID], read{name, n})
		}
		u.visit(c)
	}
}

// root is the variable that stands for all that may be the same object as name.
func (u *usage) root(name string) string {
	for i := 0; i <= len(u.aliases); i++ {
		next, ok := u.aliases[name]
		if !ok || next == name {
			break
		}
		name = next
	}
	return name
}

// loopsAround lists the loops that n is in.
func (u *usage) loopsAround(n node) []*pyFor {
	var out []*pyFor
	for _, x := range u.loops {
		if x.Line <= n.at().Line && n.at().Line <= x.End && node(x) != n {
			out = append(out, x)
		}
	}
	return out
}

// isRebound reports whether the variable gets another value between a and b.
func (u *usage) isRebound(name string, a, b node) bool {
	return slices.ContainsFunc(u.bindings[name], func(s node) bool {
		return before(a, s) && before(s, b) && a.at().Line < s.at().Line
	})
}

// sharesLoop reports whether a change is seen by a use in the next turn of a loop that
// the variable is older than.
func (u *usage) sharesLoop(name string, change, use node) bool {
	around := u.loopsAround(use)
	return slices.ContainsFunc(u.loopsAround(change), func(loop *pyFor) bool {
		isFresh := func(b node) bool { return b.at().Line >= loop.Line && b.at().End <= loop.End && b != node(loop) }
		return slices.Contains(around, loop) && !slices.ContainsFunc(u.bindings[name], isFresh)
	})
}

// isSeen reports whether use, which hands a variable over, comes before a change without
// another value between, or after it in a loop.
func (u *usage) isSeen(name string, change, use node) bool {
	return before(use, change) && !u.isRebound(name, use, change) || u.sharesLoop(name, change, use)
}

// mutated returns the variable whose list or dict a node changes.
func mutated(n node) (string, bool) {
	var target node
	switch n := n.(type) {
	case *pyCall:
		if fn, ok := n.Func.(*pyAttribute); ok && strings.Contains(mutators, " "+fn.Attr+" ") {
			target = fn.Value
		}
	case *pyAssign:
		for _, t := range n.Targets {
			if s, ok := t.(*pySubscript); ok && n.Kind == "Assign" {
				target = s.Value
			}
		}
	case *pyAugAssign:
		target = n.Target
	case *pyDelete:
		switch t := n.Targets[len(n.Targets)-1].(type) {
		case *pySubscript:
			target = t.Value
		case *pyAttribute:
			target = t.Value
		}
	}
	for {
		s, ok := target.(*pySubscript)
		if !ok {
			return nameOf(target), nameOf(target) != ""
		}
		target = s.Value
	}
}
