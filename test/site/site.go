// Command site writes the documentation as one HTML page: `make site`.
package main

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"os"
	"path"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"

	"torchx/docs"
)

// The style and the search script of the page.
var (
	//go:embed site.css
	style string
	//go:embed site.js
	script string
)

func main() {
	page, err := site()
	if err == nil && len(os.Args) != 2 {
		err = errors.New("usage: site FILE.html")
	}
	if err == nil {
		err = os.WriteFile(os.Args[1], []byte(page), 0o644) //nolint:gosec // for all to read
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// site returns all pages as one self-contained HTML page.
func site() (string, error) {
	all, err := docs.Topics()
	if err != nil {
		return "", err
	}
	var nav, main strings.Builder
	group, known := "", map[string]bool{}
	for _, t := range all {
		known[t.Path] = true
	}
	for _, t := range all {
		if t.Group != group {
			group = t.Group
			fmt.Fprintf(&nav, "<h2>%s</h2>\n", html.EscapeString(group))
		}
		body, err := page{t}.html(known)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&nav, "<a href=\"#%s\">%s</a>\n", anchorOf(t.Path), html.EscapeString(t.Title))
		fmt.Fprintf(&main, "<article id=\"%s\">\n%s</article>\n", anchorOf(t.Path), body)
	}
	return fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"+
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>torchx</title>\n<style>\n%s</style>\n</head>\n<body>\n"+
		"<nav>\n<h1>torchx</h1>\n<input id=\"search\" type=\"search\" placeholder=\"Search ( / )\" aria-label=\"Search the documentation\">\n%s<p id=\"none\" hidden>Nothing found.</p>\n</nav>\n"+
		"<main>\n%s</main>\n<script>\n%s</script>\n</body>\n</html>\n", style, nav.String(), main.String(), script), nil
}

// page is one page of the documentation.
type page struct{ docs.Topic }

// anchorOf returns the ID of a page's article.
func anchorOf(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".md"), "/", "-")
}

// html returns the page as HTML, with links to the known pages and unique IDs of headings.
// It omits raw HTML.
func (t page) html(known map[string]bool) (string, error) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	var b bytes.Buffer
	if err := md.Convert([]byte(t.Text), &b); err != nil {
		return "", fmt.Errorf("convert %s: %w", t.Path, err)
	}
	text := strings.ReplaceAll(b.String(), "<!-- raw HTML omitted -->\n", "")
	text = regexp.MustCompile(` id="([^"]*)"`).ReplaceAllString(text,
		` id="`+anchorOf(t.Path)+`--$1"`)
	return regexp.MustCompile(`(href|src)="([^"]*)"`).ReplaceAllStringFunc(text, func(attribute string) string { return t.link(attribute, known) }), nil
}

// link changes a link to a page of the documentation into one within the HTML page, and a
// picture into its data. `torchx docs` writes schemas next to the page. A link to another
// file is taken out.
func (t page) link(attribute string, known map[string]bool) string {
	name, value, _ := strings.Cut(strings.TrimSuffix(attribute, `"`), `="`)
	target, fragment, _ := strings.Cut(value, "#")
	if strings.Contains(target, "://") {
		return attribute
	}
	file := path.Join(path.Dir(t.Path), target)
	if data, err := docs.Files.ReadFile(file); err == nil && path.Ext(file) == ".svg" {
		return name + `="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString(data) + `"`
	}
	if strings.HasPrefix(file, "schema/") {
		return fmt.Sprintf("%s=%q", name, file)
	}
	if target == "" {
		file = t.Path
	}
	if !known[file] {
		return ""
	}
	anchor := anchorOf(file)
	if fragment != "" {
		anchor += "--" + fragment
	}
	return fmt.Sprintf(`%s="#%s"`, name, anchor)
}
