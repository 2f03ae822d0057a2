package interp

import (
	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// ResolveNames binds the names of a file of size bytes, with predeclared ones beside Starlark's own.
// The error is a resolve.ErrorList. The resolver compares each undefined name with all others: of a
// large file only some are undefined, and the others pass for predeclared.
func ResolveNames(file *syntax.File, size int, predeclared func(name string) bool) error {
	unknown, most := 0, max(20, 10_000_000/max(1, size))
	return resolve.File(file, func(name string) bool {
		if predeclared(name) {
			return true
		}
		if !starlark.Universe.Has(name) {
			unknown++
		}
		return unknown > most
	}, starlark.Universe.Has)
}
