// Package words refuses phrases that readers must decode, in what the program prints and
// in comments. Reading finds the rest.
package words

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

const root = "../.."

var (
	// refused matches phrases that have a plain form, see CONTRIBUTING.md.
	refused = regexp.MustCompile(`(?i)\b(whoever|nobody|somebody|anybody|the ones? that|those there (is|are)|(is|are) to be|stands? beside|(is|are) so of|of which there|in the place of|what there is|told at once|beginning of an id|its own affair|turns over)\b`)
	// negated matches "is no number", which should be "is not a number".
	negated = regexp.MustCompile(`(?i)(\bthere )?\b(is|are|was|were) no (\w+)`)
)

// comparisons follow "is no" in good English.
var comparisons = []string{"more", "longer", "less", "later", "earlier", "larger", "smaller", "faster", "slower", "greater", "better", "worse"}

// phrase returns the first refused phrase of a text; "" if there is none.
func phrase(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if found := refused.FindString(text); found != "" {
		return found
	}
	for _, m := range negated.FindAllStringSubmatch(text, -1) {
		if m[1] == "" && !contains(comparisons, m[3]) {
			return m[0]
		}
	}
	return ""
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if strings.EqualFold(w, word) {
			return true
		}
	}
	return false
}

func TestPhrase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the precision is no number":         "is no number",
		"closes it for whoever waits":        "whoever",
		"all names that\n are to be\nlocked": "are to be",
		"there is no app":                    "",
		"the result is no longer than that":  "",
		"the precision is not a number":      "",
	} {
		if got := phrase(text); got != want {
			t.Errorf("phrase(%q) = %q, want %q", text, got, want)
		}
	}
}

// files returns the files below the root whose names end with one of the suffixes.
func files(t *testing.T, suffixes ...string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2 || e.Name() == "words" || e.Name() == "bin"):
			return filepath.SkipDir
		case e.IsDir():
			return nil
		}
		for _, s := range suffixes {
			if strings.HasSuffix(name, s) {
				names = append(names, name)
				break
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 20 {
		t.Fatalf("found %d files, want the source of the project", len(names))
	}
	return names
}

func TestSource(t *testing.T) {
	t.Parallel()
	for _, name := range files(t, ".go") {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range file.Comments {
			if found := phrase(c.Text()); found != "" {
				t.Errorf("%s: %q in a comment: write it plainly", set.Position(c.Pos()), found)
			}
		}
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Errorf("%s: %v", set.Position(lit.Pos()), err)
				}
				if found := phrase(text); found != "" {
					t.Errorf("%s: %q in a message: write it plainly", set.Position(lit.Pos()), found)
				}
			}
			return true
		})
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, name := range files(t, ".md", ".star") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(data), "\n") {
			if found := phrase(line); found != "" {
				t.Errorf("%s:%d: %q: write it plainly", name, i+1, found)
			}
		}
	}
}
