package library

import (
	"fmt"
	"slices"
	"strings"
)

// newProject is what a torchx.libs begins with.
const newProject = "# The component libraries of this project; `torchx lib --help` explains it."

// Set writes the line of a library, in the place of an older one of its name.
// Comments and all other lines stay as they are.
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
	return p.put(old.Line, joinWords(words...))
}

// SetReplacement writes a `replace` line, in the place of an older one.
func (p *Project) SetReplacement(name, folder string) error {
	old, _ := p.Replacement(name)
	return p.put(old.Line, joinWords("replace", name, folder))
}

// put replaces a line, or appends one if the number is 0.
func (p *Project) put(number int, text string) error {
	lines := slices.Clone(p.lines)
	if number > 0 {
		lines[number-1] = text + trailingComment(lines[number-1])
		return p.become(lines)
	}
	if len(lines) == 0 {
		lines = []string{newProject}
	}
	return p.become(append(lines, text))
}

// trailingComment is the comment behind the words of a line, with a space.
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

// Remove takes the lines of a library away; Unreplace only the `replace` line.
func (p *Project) Remove(name string) error {
	l, ok := p.Find(name)
	if !ok {
		return fmt.Errorf("no library %s is listed", name)
	}
	r, _ := p.Replacement(name)
	return p.drop(l.Line, r.Line)
}

// Unreplace takes the `replace` line of a library away.
func (p *Project) Unreplace(name string) error {
	r, ok := p.Replacement(name)
	if !ok {
		return fmt.Errorf("library %s is not replaced", name)
	}
	return p.drop(r.Line)
}

func (p *Project) drop(numbers ...int) error {
	var lines []string
	for i, line := range p.lines {
		if !slices.Contains(numbers, i+1) {
			lines = append(lines, line)
		}
	}
	return p.become(lines)
}

// become reads the lines anew, so that what is written can be read.
func (p *Project) become(lines []string) error {
	q, err := ParseProject(ProjectFile, []byte(strings.Join(lines, "\n")+"\n"))
	if err != nil {
		return err
	}
	*p = *q
	return nil
}

// Text is the content of the file.
func (p *Project) Text() []byte {
	if len(p.lines) == 0 {
		return []byte(newProject + "\n")
	}
	return []byte(strings.Join(p.lines, "\n") + "\n")
}
