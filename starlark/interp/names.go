package interp

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// ResolveNames resolves the names of a file of size bytes, with predeclared names in addition to
// Starlark's own. The error is a resolve.ErrorList. Since the resolver compares each undefined name
// with all others, ResolveNames reports only some undefined names of a large file.
func ResolveNames(file *syntax.File, size int, predeclared func(name string) bool) error {
	unknown, limit := 0, max(20, 10_000_000/max(1, size))
	return resolve.File(file, func(name string) bool {
		if predeclared(name) {
			return true
		}
		if !starlark.Universe.Has(name) {
			unknown++
		}
		return unknown > limit
	}, starlark.Universe.Has)
}
