package library

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxProject bounds torchx.libs in bytes.
const maxProject = 1 << 20

// Project is a torchx.libs file: one line for each library, # for comments.
//
//	lib NAME URL REVISION [path=FOLDER]   a git repository, or a folder of it
//	lib NAME FOLDER                       a folder of this machine
//	replace NAME FOLDER                   read that folder instead, unchecked
//
// URL is https://, ssh:// or file://; REVISION is a tag, a branch or a commit. FOLDER starts
// with ./ or ../, relative to the file, or is absolute. A word with spaces is quoted ("…").
type Project struct {
	Libraries []Library
	Replaced  []Replacement

	lines []string // as written, without line ends
}

// Library is a `lib` line.
type Library struct {
	Name     string
	URL      string // of a git repository, "" for a folder
	Revision string // a tag, a branch or a commit
	Path     string // folder of the library in the repository; "": the root
	Folder   string // as written, "" for a git repository
	Line     int    // from 1
}

// Replacement is a `replace` line.
type Replacement struct {
	Name, Folder string
	Line         int // from 1
}

// Source returns the source of the library, as in its line.
func (l Library) Source() string {
	if l.Folder != "" {
		return l.Folder
	}
	return l.URL
}

// same reports whether two lines mean the same content.
func (l Library) same(o Library) bool {
	l.Line, o.Line = 0, 0
	return l == o
}

// ParseProject parses a project. Errors have the form NAME:LINE: problem; name is the file's
// name in them.
func ParseProject(name string, data []byte) (*Project, error) {
	if len(data) > maxProject {
		return nil, fmt.Errorf("%s: is over %s large: not a list of libraries", name,
			sizeText(maxProject))
	}
	p := &Project{lines: splitLines(data)}
	for i, line := range p.lines {
		if err := p.parseLine(line, i+1); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	for _, r := range p.Replaced {
		if _, ok := p.Find(r.Name); !ok {
			return nil, fmt.Errorf("%s:%d: no lib line lists %s, which this line replaces",
				name, r.Line, r.Name)
		}
	}
	return p, nil
}

// splitLines splits text into lines without a last empty one.
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
		return fmt.Errorf("the file contains a merge conflict")
	}
	return fmt.Errorf("%q is not a lib or replace line", short(words[0]))
}

// isConflict reports whether a line is a conflict marker of git merge.
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
		return fmt.Errorf("library %s has no revision: add a tag, branch or commit after the URL", l.Name)
	default:
		l.URL, l.Revision = words[1], rest[0]
		for _, option := range rest[1:] {
			path, ok := strings.CutPrefix(option, "path=")
			if !ok || l.Path != "" {
				return fmt.Errorf("unexpected %q after the revision: only one path=FOLDER is allowed there", option)
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
			return fmt.Errorf("library %s is already listed, as %s in line %d", l.Name,
				other.Name, other.Line)
		}
	}
	p.Libraries = append(p.Libraries, l)
	return nil
}

// Check returns an error if the library's name or source is invalid.
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
		return fmt.Errorf("library %s is already replaced, in line %d", r.Name, old.Line)
	}
	p.Replaced = append(p.Replaced, r)
	return nil
}

// Find returns the library with a name.
func (p *Project) Find(name string) (Library, bool) {
	i := slices.IndexFunc(p.Libraries, func(l Library) bool { return l.Name == name })
	if i < 0 {
		return Library{}, false
	}
	return p.Libraries[i], true
}

// Replacement returns the line that replaces the library with a name.
func (p *Project) Replacement(name string) (Replacement, bool) {
	i := slices.IndexFunc(p.Replaced, func(r Replacement) bool { return r.Name == name })
	if i < 0 {
		return Replacement{}, false
	}
	return p.Replaced[i], true
}

// Names returns the libraries in the order of the file.
func (p *Project) Names() []string {
	names := make([]string, len(p.Libraries))
	for i, l := range p.Libraries {
		names[i] = l.Name
	}
	return names
}
