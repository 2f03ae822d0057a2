package starlint

import (
	"strings"

	"github.com/bazelbuild/buildtools/build"

	"torchx/runtime/lazyregexp"
)

// disabled are lines, from 1, in which rules are turned off.
type disabled struct {
	from, to int
	rules    map[string]bool
}

// directive matches a comment that turns rules off, in our words or buildifier's.
var directive = lazyregexp.New(`(?:lint|buildifier|buildozer): *disable=([\w-]+(?:, *[\w-]+)*)`)

// disabledParts finds the comments that turn rules off: each counts for all of
// what it stands above or behind, as with buildifier.
func disabledParts(tree *build.File) []disabled {
	var parts []disabled
	build.Walk(tree, func(e build.Expr, _ []build.Expr) {
		if e == nil {
			return
		}
		c := e.Comment()
		rules := map[string]bool{}
		for _, list := range [][]build.Comment{c.Before, c.Suffix, c.After} {
			for _, comment := range list {
				for _, m := range directive().FindAllStringSubmatch(comment.Token, -1) {
					for _, rule := range strings.Split(m[1], ",") {
						rules[strings.TrimSpace(rule)] = true
					}
				}
			}
		}
		if len(rules) > 0 {
			from, to := extent(e)
			parts = append(parts, disabled{from, to, rules})
		}
	})
	return parts
}

// extent is the lines of a node with its comments.
func extent(e build.Expr) (from, to int) {
	start, end := e.Span()
	c := e.Comment()
	if len(c.Before) > 0 {
		start, _ = c.Before[0].Span()
	}
	if n := len(c.After); n > 0 {
		_, end = c.After[n-1].Span()
	}
	return start.Line, end.Line
}
