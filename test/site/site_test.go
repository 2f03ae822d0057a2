package main

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"torchx/docs"
)

// TestIndexIsComplete: the index has every page once, and names are unique.
func TestIndexIsComplete(t *testing.T) {
	t.Parallel()
	all, err := docs.Topics()
	if err != nil {
		t.Fatal(err)
	}
	names, paths := map[string]bool{}, map[string]bool{}
	for _, p := range all {
		if names[p.Name] {
			t.Errorf("two pages have the name %s", p.Name)
		}
		names[p.Name], paths[p.Path] = true, true
		if title, _, _ := strings.Cut(p.Text, "\n"); p.Group == "How-to guides" && title != "# "+p.Title {
			t.Errorf("the index calls %s %q, the page %q", p.Path, p.Title, title)
		}
	}
	for _, folder := range []string{"tutorials", "howto", "reference", "explanation"} {
		files, err := fs.Glob(docs.Files, folder+"/*.md")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d pages (%v)", folder, len(files), err)
		}
		for _, file := range files {
			if !paths[file] {
				t.Errorf("docs/README.md does not link to %s", file)
			}
		}
	}
}

// howtoLines is the largest size of a how-to page.
const howtoLines = 80

var startsWithCommand = regexp.MustCompile(`^# .*\n\n    (torchx|tar|docker|mkdir) `)

// TestPages: links between pages lead to existing files, and how-to pages are short and start
// with the command.
func TestPages(t *testing.T) {
	t.Parallel()
	all, err := docs.Topics()
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	for _, p := range all {
		for _, m := range link.FindAllStringSubmatch(p.Text, -1) {
			file := path.Join(path.Dir(p.Path), m[1])
			if _, err := fs.Stat(docs.Files, file); err != nil && !strings.Contains(m[1], "://") && !strings.HasPrefix(file, "..") && path.Ext(file) != ".html" {
				t.Errorf("%s links to %s, which does not exist", p.Path, m[1])
			}
		}
		if path.Dir(p.Path) != "howto" {
			continue
		}
		if lines := strings.Count(p.Text, "\n"); lines > howtoLines {
			t.Errorf("%s has %d lines, want at most %d", p.Path, lines, howtoLines)
		}
		if !startsWithCommand.MatchString(p.Text) {
			t.Errorf("%s does not start with a command below its title", p.Path)
		}
	}
}

// TestSite: the page has every topic, its links have targets, and it loads no other files.
func TestSite(t *testing.T) {
	t.Parallel()
	page, err := site()
	if err != nil {
		t.Fatal(err)
	}
	if page != docs.Site {
		t.Error("docs/site.html is stale: run `make site`")
	}
	all, err := docs.Topics()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if !strings.Contains(page, `<article id="`+anchorOf(p.Path)+`">`) {
			t.Errorf("the page does not have %s", p.Path)
		}
	}
	for _, m := range regexp.MustCompile(`<a href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.Contains(page, ` id="`+m[1]+`"`) {
			t.Errorf("a link leads to #%s, which does not exist", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`<(script|link|img)[^>]*(src|href)="(http[^"]*)"`).FindAllString(page, -1) {
		t.Errorf("the page loads %s", m)
	}
}
