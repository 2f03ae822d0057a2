package component

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"torchx/runtime/humanize"
	"torchx/runtime/pattern"
)

// reference is a parsed reference to a function, in one of three forms.
type reference struct {
	text     string // as the user wrote it
	function string // "" if the reference names a file only
	// Exactly one of module and file is set.
	module string // MODULE of MODULE.FUNCTION
	file   string // FILE.star of FILE.star:FUNCTION, relative to the library if library is set
	// library is NAME of @NAME//FILE.star:FUNCTION or @NAME//MODULE.FUNCTION, else "".
	library string
}

// libraryRef captures the name of a library and the reference within it.
var libraryRef = pattern.Lazy(`^@(\w[\w.-]*)//(.+)$`)

// isIdentifier reports whether text can be a name in Starlark.
func isIdentifier(text string) bool { return text != "" && identifierLen(text) == len(text) }

// identifierLen returns the length of the identifier that text begins with. A regular expression
// with classes of Unicode would have to be compiled by each run.
func identifierLen(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return i
		}
	}
	return len(text)
}

// parseRef parses a reference. Errors show the right form.
func parseRef(text string) (reference, error) {
	ref := reference{text: text}
	if oneLine(text) != text {
		return ref, fmt.Errorf("invalid component %s: it has unprintable characters",
			humanize.Quote(text))
	}
	if strings.HasPrefix(text, "@") {
		match := libraryRef().FindStringSubmatch(text)
		if match == nil {
			return ref, ref.libraryFormError()
		}
		ref.library, text = match[1], match[2]
	}
	colon := strings.LastIndexByte(text, ':')
	switch {
	case colon >= 0:
		ref.file, ref.function = text[:colon], text[colon+1:]
	case strings.HasSuffix(text, ".star") || strings.HasSuffix(text, ".py"):
		ref.file = text
		return ref, nil
	default:
		dot := strings.LastIndexByte(text, '.')
		ref.module, ref.function = text[:max(dot, 0)], text[dot+1:]
		return ref, ref.checkModule()
	}
	return ref, ref.checkFile()
}

// moduleFile returns the path of the module's file in a components folder.
func (r *reference) moduleFile() string { return strings.ReplaceAll(r.module, ".", "/") + ".star" }

// checkModule refuses an invalid MODULE.FUNCTION. Unknown modules are found later.
func (r *reference) checkModule() error {
	switch {
	case r.library != "" && (!isModule(r.module) || !isIdentifier(r.function)):
		return r.libraryFormError()
	case r.text == "":
		return fmt.Errorf("the component's name is empty: expected MODULE.FUNCTION or FILE.star:FUNCTION")
	case r.library == "" && strings.ContainsAny(r.text, `/\`):
		return fmt.Errorf("invalid component %s: a component in a file is written FILE.star:FUNCTION", humanize.Quote(r.text))
	case strings.HasPrefix(r.function, "_"):
		return r.privateError()
	}
	return nil
}

func (r *reference) checkFile() error {
	switch {
	case r.library == "" && strings.HasSuffix(r.file, ".py"):
		return nil // pythonError reports it later, after it has searched the folder
	case !strings.HasSuffix(r.file, ".star") || strings.Contains(r.file, ".star:"):
		return fmt.Errorf("invalid component %s: expected FILE.star:FUNCTION, with one colon",
			humanize.Quote(r.text))
	case !isIdentifier(r.function) && r.function != "":
		return fmt.Errorf("invalid component %s: %s cannot be the name of a function",
			humanize.Quote(r.text), humanize.Quote(r.function))
	case strings.HasPrefix(r.function, "_"):
		return r.privateError()
	}
	return nil
}

func (r *reference) libraryFormError() error {
	return fmt.Errorf("invalid component %s: a library's component is written @NAME//FILE.star:FUNCTION", humanize.Quote(r.text))
}

func (r *reference) privateError() error {
	return fmt.Errorf("component %s is private: names that begin with _ are for use within their file", humanize.Quote(r.text))
}

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
	if _, ok := starlark.Universe[name]; ok || name == "help" ||
		name == "specs" || name == "torchx" {
		return true
	}
	_, err := (&syntax.FileOptions{}).ParseExpr("", name, 0)
	return err != nil
}
