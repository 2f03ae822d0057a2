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

// TestPages: links between pages lead to existing files, and how-to pages are short.
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
		if lines := strings.Count(p.Text, "\n"); path.Dir(p.Path) == "howto" && lines > 120 {
			t.Errorf("%s has %d lines, want a short page", p.Path, lines)
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
