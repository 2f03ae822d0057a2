package starlint

import (
	"fmt"

	"github.com/bazelbuild/buildtools/build"
)

// loaded is what a name of the file was loaded as.
type loaded struct {
	file, name string
	line       int
}

// loads are the loads of a file.
type loads struct {
	*linter
	used   map[string]bool
	before map[string]loaded // by the name in the file
}

// unusedLoads reports loaded names that are not used, or loaded before.
func (l *linter) unusedLoads() {
	c := loads{l, l.usedNames(), map[string]loaded{}}
	for _, s := range l.tree.Stmt {
		if load, ok := s.(*build.LoadStmt); ok {
			c.check(load)
		}
	}
}

// usedNames lists the names that the file mentions, other than to assign or load them.
func (l *linter) usedNames() map[string]bool {
	used, assigned := map[string]bool{}, map[build.Expr]bool{}
	build.Walk(l.tree, func(e build.Expr, around []build.Expr) {
		switch e := e.(type) {
		case *build.AssignExpr:
			assigned[e.LHS] = true
		case *build.Ident:
			if _, load := around[len(around)-1].(*build.LoadStmt); !load && !assigned[e] {
				used[e.Name] = true
			}
		}
	})
	return used
}

func (c *loads) check(load *build.LoadStmt) {
	var findings []Finding
	surplus := map[*build.Ident]bool{}
	for i, to := range load.To {
		message, remove := c.problem(load, load.From[i], to)
		if message != "" {
			findings = append(findings, c.warning(ruleUnusedLoad, to, "%s", message))
		}
		if remove {
			surplus[to] = true
		}
	}
	if len(surplus) > 0 {
		// One fix removes all names of the load: several fixes would overlap.
		findings[0].Fix = c.without(load, surplus)
	}
	for _, f := range findings {
		c.add(f)
	}
}

// problem returns what is wrong with a loaded name, "" for nothing, and whether to remove the name.
func (c *loads) problem(load *build.LoadStmt, from, to *build.Ident) (message string, remove bool) {
	first, again := c.before[to.Name]
	this := loaded{load.Module.Token, from.Name, from.NamePos.Line}
	c.before[to.Name] = this
	switch {
	case again && first.file == this.file && first.name == this.name:
		return fmt.Sprintf("symbol %q has already been loaded on line %d", to.Name, first.line), true
	case again:
		return fmt.Sprintf("a different symbol %q has already been loaded on line %d", to.Name, first.line), false
	case c.used[to.Name] || isMarked(load) || isMarked(to) || isMarked(from):
		return "", false
	}
	return fmt.Sprintf("loaded symbol %q is unused", to.Name), true
}

// without removes names of a load, or the load if it has no others.
func (l *linter) without(load *build.LoadStmt, names map[*build.Ident]bool) *Fix {
	const title = "remove it"
	if len(names) == len(load.To) {
		from, to := load.Span()
		return &Fix{title, []Edit{l.removal(l.inTree(from), l.inTree(to))}}
	}
	left := *load
	left.From, left.To = nil, nil
	for i, to := range load.To {
		if !names[to] {
			left.From, left.To = append(left.From, load.From[i]), append(left.To, to)
		}
	}
	build.SortLoadArgs(&left)
	return l.replacement(title, load, &left)
}
