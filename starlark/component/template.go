package component

import (
	_ "embed"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// templateSource and templateTest are a component MODULE.FUNCTION and its test.
var (
	//go:embed template.star.txt
	templateSource string
	//go:embed template_test.star.txt
	templateTest string
)

// Template returns a new component and its test: formatted, free of lint findings, passing.
func Template(module, function string) (source, test string) {
	fill := strings.NewReplacer("MODULE", module, "FUNCTION", function, "APP", strings.ReplaceAll(function, "_", "-")).Replace
	return fill(templateSource), fill(templateTest)
}

// Reserved reports whether name is a keyword or built-in, and so cannot name a new component.
func Reserved(name string) bool {
	if _, ok := starlark.Universe[name]; ok || name == "help" || name == "specs" || name == "torchx" {
		return true
	}
	_, err := (&syntax.FileOptions{}).ParseExpr("", name, 0)
	return err != nil
}
