// Package pages renders the documentation of components as Markdown, one page per
// file, and as one self-contained HTML page. It is pure: the same components give
// the same text.
package pages

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"torchx/starlark/component"
	"torchx/starlark/starfiles"
)

// Mark begins every page: a file with it may be overwritten.
const Mark = "<!-- Made by `torchx component doc`. Change the docstrings instead. -->\n"

// Page is a file and its components.
type Page struct {
	Name string // "dist", the name of the Markdown file without .md
	File string // short path: "components/dist.star", "@lib//x.star"
	Doc  string // the docstring of the file
	// Components are in the order of the file.
	Components []Entry
}

// Entry is a component and the details from its file.
type Entry struct {
	*component.Component
	component.Detail
}

// usage returns the command line that runs a component.
func (e Entry) usage() string {
	options := slices.ContainsFunc(e.Params, func(p component.Param) bool { return !p.Variadic && !p.Required })
	placeholder := func(p *component.Param) string { return strings.ToUpper(p.Type.Kind.String()) }
	return strings.Join(e.UsageWords(e.Name, placeholder, options), " ")
}

// flag returns a parameter as typed.
func flag(p *component.Param) string {
	if p.Variadic {
		return p.Name + " ..."
	}
	return p.Flag()
}

// value returns a parameter's default as written in the file; "" without default.
func (e Entry) value(p *component.Param) string {
	if p.Required || p.Variadic {
		return ""
	}
	if text := e.Defaults[p.Name]; text != "" {
		return text
	}
	return p.Default
}

// summary returns the first line of a text.
func summary(doc string) string {
	line, _, _ := strings.Cut(doc, "\n")
	return line
}

// Markdown returns the page of one file.
func Markdown(p Page) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n", Mark, heading(p.Name))
	if p.Doc != "" {
		b.WriteString(escapeProse(p.Doc) + "\n\n")
	}
	fmt.Fprintf(&b, "Components of %s.\n", code(p.File))
	for _, e := range p.Components {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n    %s\n", heading(e.Name),
			escapeProse(e.Doc), oneLine(e.usage()))
		if len(e.Params) == 0 {
			continue
		}
		b.WriteString("\n| argument | type | default | |\n|---|---|---|---|\n")
		for i := range e.Params {
			x := &e.Params[i]
			value := "**required**"
			switch {
			case x.Variadic:
				value = ""
			case !x.Required:
				value = codeCell(e.value(x))
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", codeCell(flag(x)), codeCell(x.Type.String()),
				value, escapeCell(x.Help))
		}
	}
	return b.String()
}

// Index returns the Markdown page that links to all others.
func Index(pages []Page) string {
	var b strings.Builder
	b.WriteString(Mark + "# Components\n\n[index.html](index.html) has all of this in one page.\n")
	for _, p := range pages {
		fmt.Fprintf(&b, "\n## [%s](%s)\n\n", heading(p.Name), link(p.Name))
		if p.Doc != "" {
			b.WriteString(escapeStart(escapeText(summary(p.Doc))) + "\n\n")
		}
		b.WriteString("| component | |\n|---|---|\n")
		for _, e := range p.Components {
			fmt.Fprintf(&b, "| [%s](%s#%s) | %s |\n", escapeCell(e.Name), link(p.Name),
				anchor(e.Name), escapeCell(summary(e.Doc)))
		}
	}
	return b.String()
}

// anchor returns the fragment that Markdown viewers derive from a heading.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r > 0x7f:
			return r
		}
		return -1
	}, heading)
}

// Collect returns a page for each file with components. what lists files and folders, relative to
// dir, and @LIBRARY. shortPath shortens a path for display.
func Collect(ctx context.Context, loader *component.Loader, dir string, what []string,
	shortPath func(string) string,
) ([]Page, error) {
	var paths, refs []string
	for _, w := range what {
		name, isLibrary := strings.CutPrefix(w, "@")
		if !isLibrary {
			paths = append(paths, w)
			continue
		}
		list, err := libraryComponents(ctx, loader, name)
		if err != nil {
			return nil, err
		}
		for _, s := range list {
			refs = append(refs, s.Name)
		}
	}
	if len(paths) > 0 {
		found, err := fileComponents(loader, dir, paths)
		if err != nil {
			return nil, err
		}
		refs = append(refs, found...)
	}
	return groupByFile(ctx, loader, refs, shortPath)
}

func libraryComponents(
	ctx context.Context, loader *component.Loader, name string,
) ([]component.Summary, error) {
	if name != "torchx" {
		return loader.LibraryComponents(ctx, name)
	}
	list, err := loader.Builtins(ctx)
	for i, s := range list { // by file, since components of the project may hide them by name
		module, function, _ := strings.Cut(s.Name, ".")
		list[i].Name = "@torchx//" + module + ".star:" + function
	}
	return list, err
}

// fileComponents returns the documented components of files, without tests.
func fileComponents(
	loader *component.Loader, dir string, paths []string,
) (refs []string, err error) {
	files, err := starfiles.Find(dir, paths)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if starfiles.IsTest(f) {
			continue
		}
		if err := loader.CheckFile(f); err != nil {
			return nil, err
		}
		for _, s := range loader.Functions(f) {
			if s.Doc != "" {
				refs = append(refs, s.Name)
			}
		}
	}
	return refs, nil
}

func groupByFile(
	ctx context.Context, loader *component.Loader, refs []string, shortPath func(string) string,
) ([]Page, error) {
	var list []Page
	index := map[string]int{}
	all, err := loader.FindAll(ctx, refs)
	if err != nil {
		return nil, err
	}
	for _, found := range all {
		e := Entry{Component: found, Detail: found.Detail()}
		i, ok := index[found.File]
		if !ok {
			i = len(list)
			index[found.File] = i
			file := filepath.ToSlash(shortPath(found.File))
			list = append(list, Page{Name: strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".star"), File: file, Doc: e.Module})
		}
		list[i].Components = append(list[i].Components, e)
	}
	return list, nil
}
