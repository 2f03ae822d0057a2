package library

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxProject bounds a torchx.libs file, in bytes.
const maxProject = 1 << 20

// Project is a torchx.libs file: a line for each library, # for comments.
//
//	lib NAME URL REVISION [path=FOLDER]   a git repository, or a folder of it
//	lib NAME FOLDER                       a folder of this machine
//	replace NAME FOLDER                   read that folder instead, as it is
//
// URL is https://, ssh:// or file://; REVISION a tag, a branch or a commit. FOLDER
// begins with ./ or ../ and is relative to the file then, or is absolute. A word
// with spaces stands in "…".
type Project struct {
	Libraries []Library
	Replaced  []Replacement

	lines []string // as written, without their ends
}

// Library is a `lib` line.
type Library struct {
	Name     string
	URL      string // of a git repository, "" for a folder
	Revision string // a tag, a branch or a commit
	Path     string // folder in the repository that is the library; "": all of it
	Folder   string // as written, "" for a git repository
	Line     int    // from 1
}

// Replacement is a `replace` line.
type Replacement struct {
	Name, Folder string
	Line         int // from 1
}

// Source says where the library comes from, in the words of its line.
func (l Library) Source() string {
	if l.Folder != "" {
		return l.Folder
	}
	return l.URL
}

// same reports whether two lines want the same content.
func (l Library) same(o Library) bool {
	l.Line, o.Line = 0, 0
	return l == o
}

// ParseProject reads the text of the file that is called name in errors, which are
// NAME:LINE: what is wrong.
func ParseProject(name string, data []byte) (*Project, error) {
	if len(data) > maxProject {
		return nil, fmt.Errorf("%s: is over %s large: not a list of libraries", name, sizeText(maxProject))
	}
	p := &Project{lines: splitLines(data)}
	for i, line := range p.lines {
		if err := p.parseLine(line, i+1); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	for _, r := range p.Replaced {
		if _, ok := p.Find(r.Name); !ok {
			return nil, fmt.Errorf("%s:%d: no lib line lists %s, which is to be replaced", name, r.Line, r.Name)
		}
	}
	return p, nil
}

// splitLines splits text at its line ends, a last one being no line.
func splitLines(data []byte) []string {
	if len(data) == 0 {
		return nil
	}
	text := strings.TrimSuffix(strings.TrimPrefix(string(data), "\uFEFF"), "\n")
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, "\r")
	}
	return lines
}

func (p *Project) parseLine(line string, number int) error {
	if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
		return fmt.Errorf("not a text file")
	}
	words, err := splitWords(line)
	if err != nil || len(words) == 0 {
		return err
	}
	switch words[0] {
	case "lib":
		return p.parseLib(words[1:], number)
	case "replace":
		return p.parseReplace(words[1:], number)
	}
	if isConflict(line) {
		return fmt.Errorf("a merge conflict is left in the file")
	}
	return fmt.Errorf("%q is no lib or replace line", short(words[0]))
}

// isConflict holds for the marks of git merge.
func isConflict(line string) bool {
	return strings.HasPrefix(line, "<<<<<<<") || strings.HasPrefix(line, "=======") ||
		strings.HasPrefix(line, ">>>>>>>") || strings.HasPrefix(line, "|||||||")
}

func (p *Project) parseLib(words []string, number int) error {
	if len(words) < 2 {
		return fmt.Errorf("expected `lib NAME URL REVISION` or `lib NAME FOLDER`")
	}
	l := Library{Name: words[0], Line: number}
	switch rest := words[2:]; {
	case len(rest) == 0 && !IsRemote(words[1]):
		l.Folder = words[1]
	case len(rest) == 0:
		return fmt.Errorf("library %s has no revision: name a tag, a branch or a commit behind the URL", l.Name)
	default:
		l.URL, l.Revision = words[1], rest[0]
		for _, option := range rest[1:] {
			path, ok := strings.CutPrefix(option, "path=")
			if !ok || l.Path != "" {
				return fmt.Errorf("unexpected %q behind the revision: only path=FOLDER can stand there, once", option)
			}
			l.Path = path
			if err := checkSubfolder(path); err != nil {
				return err
			}
		}
	}
	if err := l.Check(); err != nil {
		return err
	}
	for _, other := range p.Libraries {
		if strings.EqualFold(other.Name, l.Name) {
			return fmt.Errorf("library %s is listed already, as %s in line %d", l.Name, other.Name, other.Line)
		}
	}
	p.Libraries = append(p.Libraries, l)
	return nil
}

// Check says what is wrong with the library's name and source.
func (l Library) Check() error {
	if err := CheckName(l.Name); err != nil {
		return err
	}
	if l.Folder != "" {
		return CheckFolder(l.Folder)
	}
	if err := CheckURL(l.URL); err != nil {
		return err
	}
	if l.Path != "" {
		if err := checkSubfolder(l.Path); err != nil {
			return err
		}
	}
	return CheckRevision(l.Revision)
}

func (p *Project) parseReplace(words []string, number int) error {
	if len(words) != 2 {
		return fmt.Errorf("expected `replace NAME FOLDER`")
	}
	r := Replacement{words[0], words[1], number}
	if err := CheckName(r.Name); err != nil {
		return err
	}
	if err := CheckFolder(r.Folder); err != nil {
		return err
	}
	if old, ok := p.Replacement(r.Name); ok {
		return fmt.Errorf("library %s is replaced already, in line %d", r.Name, old.Line)
	}
	p.Replaced = append(p.Replaced, r)
	return nil
}

// Find returns the library of that name.
func (p *Project) Find(name string) (Library, bool) {
	i := slices.IndexFunc(p.Libraries, func(l Library) bool { return l.Name == name })
	if i < 0 {
		return Library{}, false
	}
	return p.Libraries[i], true
}

// Replacement returns the line that replaces the library of that name.
func (p *Project) Replacement(name string) (Replacement, bool) {
	i := slices.IndexFunc(p.Replaced, func(r Replacement) bool { return r.Name == name })
	if i < 0 {
		return Replacement{}, false
	}
	return p.Replaced[i], true
}

// Names lists the libraries in the order of the file.
func (p *Project) Names() []string {
	names := make([]string, len(p.Libraries))
	for i, l := range p.Libraries {
		names[i] = l.Name
	}
	return names
}
