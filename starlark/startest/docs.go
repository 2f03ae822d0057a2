package startest

import (
	_ "embed"
	"strings"

	"torchx/starlark/specmodule"
)

//go:embed docs.txt
var docs string

// Docs returns the documentation of all that the value t of tests has, by name.
func Docs() map[string]specmodule.Doc {
	all := map[string]specmodule.Doc{}
	for name, d := range specmodule.ParseDocs(docs) {
		all[strings.TrimPrefix(name, "t.")] = d
	}
	return all
}
