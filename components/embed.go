// Package components is the built-in component library: Starlark files that
// `@torchx//NAME.star` and `NAME.FUNCTION` refer to.
package components

import "embed"

// FS holds the library with its files at the root: "dist.star", "utils.star"
// and what they load.
//
//go:embed dist.star launch.star utils.star
var FS embed.FS
