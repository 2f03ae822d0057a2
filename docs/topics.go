package docs

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Topic is a page of the documentation.
type Topic struct {
	Name  string // of the file, without .md
	Path  string // in Files
	Group string // heading of the index above its line
	Title string // in the index
	Text  string // Markdown
}

// Schemas returns the JSON Schemas of commands by their path in Files.
func Schemas() (map[string]string, error) {
	names, err := fs.Glob(Files, "schema/*.json")
	if err != nil {
		return nil, fmt.Errorf("list the JSON Schemas: %w", err)
	}
	all := map[string]string{}
	for _, name := range names {
		data, err := Files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read a JSON Schema: %w", err)
		}
		all[name] = string(data)
	}
	return all, nil
}

// Topics returns the pages in the order of the index, README.md.
func Topics() (all []Topic, err error) {
	index, err := Files.ReadFile("README.md")
	if err != nil {
		return nil, fmt.Errorf("read the index of the documentation: %w", err)
	}
	entry := regexp.MustCompile(`^- \[(.*)\]\((.*)\)`)
	group := ""
	for line := range strings.Lines(string(index)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			group = strings.TrimSpace(heading)
		}
		m := entry.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		data, err := Files.ReadFile(m[2])
		if err != nil {
			return nil, fmt.Errorf("read a page of the documentation: %w", err)
		}
		name := strings.TrimSuffix(path.Base(m[2]), ".md")
		all = append(all, Topic{Name: name, Path: m[2], Group: group, Title: m[1], Text: string(data)})
	}
	return all, nil
}
