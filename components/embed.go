// Package components is the built-in component library: the Starlark files of
// `@torchx//NAME.star` and `NAME.FUNCTION`.
package components

import "embed"

// FS holds the library with its files at the root: "dist.star", "utils.star"
// and the files that they load.
//
//go:embed dist.star launch.star utils.star
var FS embed.FS
