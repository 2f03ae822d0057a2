package specmodule

import (
	_ "embed"
	"strings"
)

// Doc is the help text of a built-in name.
type Doc struct {
	Signature string // as it would be declared: `specs.resource(cpu = None, …)`
	Text      string // one paragraph without line breaks
}

//go:embed docs.txt
var docs string

// Docs returns the documentation of all predeclared names, by their full names
// ("specs.Role", "shlex.quote", "struct").
func Docs() map[string]Doc { return ParseDocs(docs) }

// ParseDocs reads documentation by name: each signature is followed by an indented
// line with its text. The name is the signature up to its first bracket.
func ParseDocs(text string) map[string]Doc {
	all := map[string]Doc{}
	signature := ""
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, " ") {
			signature = strings.TrimSpace(line)
			continue
		}
		name, _, _ := strings.Cut(strings.Replace(signature, "[", "(", 1), "(")
		all[name] = Doc{signature, strings.TrimSpace(line)}
	}
	return all
}
