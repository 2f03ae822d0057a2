package config

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parser follows Python's configparser, like existing users' files: `key = value` or
// `key: value`, only whole-line comments, more deeply indented lines continue a value, [DEFAULT]
// applies to every section. A general INI library (gopkg.in/ini.v1) does not fit: it has no
// line numbers (here every value has its origin), treats the dot of [component:utils.echo] as
// inheritance, and strips quotes and inline comments.

// defaultSection is the section whose keys apply to every section of its file.
const defaultSection = "DEFAULT"

// file is one parsed file.
type file struct {
	path     string
	sections []*section
	byName   map[string]*section
}

// setProject marks the values of a file that belongs to a folder, not to the user.
func (f *file) setProject() {
	for _, s := range f.sections {
		for i := range s.values {
			s.values[i].Project = true
		}
	}
}

type section struct {
	name   string
	line   int
	values []Value
	lineOf map[string]int // by key
}

// parser holds the state of parsing a file.
type parser struct {
	file   *file
	sect   *section
	lines  []string // lines of the last value of sect, which an indented line continues; nil: no value yet
	indent int      // indentation of that value's first line
	line   int
}

// parse parses the text of a file; path is only for errors and origins.
func parse(path, text string) (*file, error) {
	p := &parser{file: &file{path: path, byName: map[string]*section{}}}
	text = strings.TrimPrefix(text, "\uFEFF")
	for line := range strings.SplitSeq(text, "\n") {
		p.line++
		if err := p.next(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, p.line, err)
		}
	}
	p.finish()
	return p.file, nil
}

// finish completes the current value.
func (p *parser) finish() {
	if p.lines != nil {
		text := strings.TrimRightFunc(strings.Join(p.lines, "\n"), unicode.IsSpace)
		p.sect.values[len(p.sect.values)-1].Text = unescape(text)
		p.lines = nil
	}
}

func (p *parser) next(line string) error {
	if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
		return fmt.Errorf("not a text file in UTF-8")
	}
	text := strings.TrimSpace(line)
	indent := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace))
	switch {
	case text == "":
		if p.lines != nil {
			p.lines = append(p.lines, "") // it belongs to the value if that continues below
		}
		return nil
	case text[0] == '#' || text[0] == ';':
		return nil // even between the lines of a value, as in configparser
	case p.lines != nil && indent > p.indent:
		p.lines = append(p.lines, text)
		return nil
	}
	p.finish()
	p.indent = indent
	if text[0] == '[' {
		return p.header(text)
	}
	return p.option(text)
}

func (p *parser) header(text string) error {
	name, rest, ok := strings.Cut(text[1:], "]")
	rest = strings.TrimSpace(rest)
	if !ok || name == "" || rest != "" && rest[0] != '#' && rest[0] != ';' {
		return fmt.Errorf("%s is not a section header: write [name] alone on its line", short(text))
	}
	if old := p.file.byName[name]; old != nil {
		return fmt.Errorf("section [%s] is already in line %d: merge both", name, old.line)
	}
	p.sect = &section{name: name, line: p.line, lineOf: map[string]int{}}
	p.file.sections = append(p.file.sections, p.sect)
	p.file.byName[name] = p.sect
	return nil
}

func (p *parser) option(text string) error {
	at := strings.IndexAny(text, "=:")
	if at < 0 {
		return fmt.Errorf("%s is not `key = value`, a [section] or a # comment", short(text))
	}
	key := strings.TrimSpace(text[:at])
	switch {
	case key == "":
		return fmt.Errorf("%s has no key before its %q", short(text), text[at])
	case p.sect == nil:
		return fmt.Errorf("%s is before the first [section]", short(text))
	}
	if line, ok := p.sect.lineOf[key]; ok {
		return fmt.Errorf("%s is already in line %d of section [%s]: remove one",
			key, line, p.sect.name)
	}
	p.sect.lineOf[key] = p.line
	p.sect.values = append(p.sect.values,
		Value{Key: key, File: p.file.path, Line: p.line, Section: p.sect.name})
	p.lines = []string{strings.TrimSpace(text[at+1:])}
	return nil
}

// unescape converts %%, as configparser requires it, to %. A single % stays: it would crash
// TorchX, but torchx does not interpolate.
func unescape(text string) string { return strings.ReplaceAll(text, "%%", "%") }

// escape reverses unescape.
func escape(text string) string { return strings.ReplaceAll(text, "%", "%%") }

// short quotes a line for an error, shortened to 40 characters.
func short(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return fmt.Sprintf("%q", text)
}
