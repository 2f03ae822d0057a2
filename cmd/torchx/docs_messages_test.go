package main

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

// TestTroubleshootingMessages: each message that the pages quote in the first column of their
// tables is a text of the program. `…` in a message stands for any text.
func TestTroubleshootingMessages(t *testing.T) {
	t.Parallel()
	var pages []byte
	for _, name := range []string{"troubleshooting.md", "kubernetes-failures.md"} {
		page, err := os.ReadFile(filepath.Join(docsRoot, "docs", "howto", name))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, page...)
	}
	row := regexp.MustCompile("(?m)^\\| ([^|]*`[^|]*) \\|")
	quoted := regexp.MustCompile("`([^`]+)`")
	texts := programTexts(t)
	count := 0
	for _, cell := range row.FindAllStringSubmatch(string(pages), -1) {
		for _, message := range quoted.FindAllStringSubmatch(cell[1], -1) {
			count++
			if !isPrinted(message[1], texts) {
				t.Errorf("a page quotes `%s`, which no string of the program has: quote what it prints", message[1])
			}
		}
	}
	if count < 20 {
		t.Errorf("found %d messages in the tables, want at least 20", count)
	}
}

func TestIsPrinted(t *testing.T) {
	t.Parallel()
	texts := []string{`image %s is not on the engine%s`, "queued: "}
	for message, want := range map[string]bool{
		"image … is not on the engine": true,
		"queued: …":                    true,
		"image … is on the engine":     false,
		"is not on the engine … image": false,
		"…":                            false,
	} {
		if got := isPrinted(message, texts); got != want {
			t.Errorf("isPrinted(%q): got %v, want %v", message, got, want)
		}
	}
}

// isPrinted reports whether one of the texts has all parts of the message between its `…`,
// in their order.
func isPrinted(message string, texts []string) bool {
	parts := strings.FieldsFunc(message, func(r rune) bool { return r == '…' })
	for _, text := range texts {
		rest, found := text, len(parts) > 0
		for _, part := range parts {
			_, after, ok := strings.Cut(rest, strings.TrimSpace(part))
			rest, found = after, found && ok
		}
		if found {
			return true
		}
	}
	return false
}

// programTexts returns the string literals of the program, without its tests, with `…` for
// format verbs.
func programTexts(t *testing.T) (texts []string) {
	t.Helper()
	verb := regexp.MustCompile(`%[-+# 0-9.*]*[a-zA-Z]`)
	for _, dir := range []string{"backends", "cmd", "runtime", "starlark", "state"} {
		err := filepath.WalkDir(filepath.Join(docsRoot, dir), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					if text, err := strconv.Unquote(lit.Value); err == nil {
						texts = append(texts, verb.ReplaceAllString(strings.ReplaceAll(text, "%q", `"%s"`), "…"))
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return texts
}
