package main

import (
	"errors"
	"fmt"
	"strings"
)

// The table of packages is between these lines of docs/architecture.md.
const (
	tableBegin = "<!-- made by `make arch`: packages -->"
	tableEnd   = "<!-- end of packages -->"
)

// fill replaces the table in a page.
func (g graph) fill(page string) (string, error) {
	before, rest, found := strings.Cut(page, tableBegin)
	_, after, ended := strings.Cut(rest, tableEnd)
	if !found || !ended {
		return "", errors.New("the marks of the table of packages are missing")
	}
	return before + tableBegin + "\n" + g.table() + tableEnd + after, nil
}

// table lists the packages by folder: what each is for, and how many others import it.
func (g graph) table() string {
	var b strings.Builder
	for _, row := range bands {
		for _, name := range row {
			fmt.Fprintf(&b, "\n### %s\n\n| package | duty | imported by |\n|---|---|---|\n", name)
			for _, path := range g.paths() {
				if folder(path) == name {
					fmt.Fprintf(&b, "| `%s` | %s | %s |\n", path, duty(g[path].doc),
						used(g.users(path)))
				}
			}
		}
	}
	return b.String() + "\n"
}

// duty returns the first sentence of a package comment without its first two words.
func duty(doc string) string {
	words := strings.SplitN(doc, " ", 3)
	if len(words) < 3 {
		return doc
	}
	return strings.ReplaceAll(words[2], "|", "\\|")
}

// used lists up to three importers, or returns their number.
func used(users []string) string {
	const shown = 3
	if len(users) > shown {
		return fmt.Sprintf("%d packages", len(users))
	}
	return strings.Join(users, ", ")
}
