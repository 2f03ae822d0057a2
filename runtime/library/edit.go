package library

import (
	"fmt"
	"slices"
	"strings"
)

// projectHeader is the first line of a new torchx.libs.
const projectHeader = "# The component libraries of this project; `torchx lib --help` explains it."

// Set writes the line of a library, or replaces the one with its name. Comments and all other
// lines stay unchanged.
func (p *Project) Set(l Library) error {
	if err := l.Check(); err != nil {
		return err
	}
	words := []string{"lib", l.Name}
	if l.Folder != "" {
		words = append(words, l.Folder)
	} else {
		words = append(words, l.URL, l.Revision)
		if l.Path != "" {
			words = append(words, "path="+l.Path)
		}
	}
	old, _ := p.Find(l.Name)
	return p.setLine(old.Line, joinWords(words...))
}

// SetReplacement writes a `replace` line, or replaces the one with that name.
func (p *Project) SetReplacement(name, folder string) error {
	old, _ := p.Replacement(name)
	return p.setLine(old.Line, joinWords("replace", name, folder))
}

// setLine replaces a line, or appends one if the number is 0.
func (p *Project) setLine(number int, text string) error {
	lines := slices.Clone(p.lines)
	if number > 0 {
		lines[number-1] = text + trailingComment(lines[number-1])
		return p.setLines(lines)
	}
	if len(lines) == 0 {
		lines = []string{projectHeader}
	}
	return p.setLines(append(lines, text))
}

// trailingComment returns the comment at the end of a line, after a space.
func trailingComment(line string) string {
	for rest := line; ; {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return ""
		}
		if rest[0] == '#' {
			return " " + rest
		}
		_, next, err := cutWord(rest)
		if err != nil {
			return ""
		}
		rest = next
	}
}

// Remove removes all lines of a library; Unreplace only the `replace` line.
func (p *Project) Remove(name string) error {
	l, ok := p.Find(name)
	if !ok {
		return fmt.Errorf("library %s is not listed", name)
	}
	r, _ := p.Replacement(name)
	return p.removeLines(l.Line, r.Line)
}

// Unreplace removes the `replace` line of a library.
func (p *Project) Unreplace(name string) error {
	r, ok := p.Replacement(name)
	if !ok {
		return fmt.Errorf("library %s is not replaced", name)
	}
	return p.removeLines(r.Line)
}

func (p *Project) removeLines(numbers ...int) error {
	var lines []string
	for i, line := range p.lines {
		if !slices.Contains(numbers, i+1) {
			lines = append(lines, line)
		}
	}
	return p.setLines(lines)
}

// setLines parses the new lines, so that only valid text is written.
func (p *Project) setLines(lines []string) error {
	q, err := ParseProject(ProjectFile, []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	*p = *q
	return nil
}

// Text returns the content of the file.
func (p *Project) Text() []byte {
	if len(p.lines) == 0 {
		return []byte(projectHeader + "\n")
	}
	return []byte(strings.Join(p.lines, "\n") + "\n")
}
