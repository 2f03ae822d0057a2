package library

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/library/git"
)

// lockVersion is the version of torchx.lock that torchx reads and writes.
const lockVersion = 1

// maxLock bounds torchx.lock in bytes.
const maxLock = 64 << 20

// Lock is a torchx.lock file: the state of each library of the project when it was locked.
//
//	version 1
//
//	library NAME
//	url URL                  for a folder: folder FOLDER instead of url to commit
//	revision REVISION
//	path FOLDER              if the library is a folder of the repository
//	commit COMMIT
//	sum SHA-256              of the lines of its files, as written here
//	files N
//	SHA-256  PATH            N times, by path, in the format of sha256sum(1)
//
// Libraries are sorted by name; comments (#) are allowed before the first.
type Lock struct{ Libraries []*Locked }

// Locked is one library of a lock.
type Locked struct {
	Library        // Line is the number of its first line
	Commit  string // of a git repository, in hexadecimal
	Files   []File // by name
}

// File is a file of a library: its path and the sum of its content.
type File struct {
	Name string
	Sum  Sum
}

// Sum is the SHA-256 of a content.
type Sum [sha256.Size]byte

func (s Sum) String() string { return hex.EncodeToString(s[:]) }

// SumOf returns the Sum of data.
func SumOf(data []byte) Sum { return sha256.Sum256(data) }

// Find returns the library with a name, or nil.
func (l *Lock) Find(name string) *Locked {
	i, ok := slices.BinarySearchFunc(l.Libraries, name, func(l *Locked, name string) int { return strings.Compare(l.Name, name) })
	if !ok {
		return nil
	}
	return l.Libraries[i]
}

// Set adds a library, or replaces the one with its name.
func (l *Lock) Set(k *Locked) {
	l.Remove(k.Name)
	l.Libraries = append(l.Libraries, k)
	slices.SortFunc(l.Libraries, func(a, b *Locked) int { return strings.Compare(a.Name, b.Name) })
}

// Remove removes a library.
func (l *Lock) Remove(name string) {
	l.Libraries = slices.DeleteFunc(slices.Clone(l.Libraries), func(k *Locked) bool { return k.Name == name })
}

// Sum returns the sum of a file of the library, and whether the file exists.
func (k *Locked) Sum(name string) (Sum, bool) {
	i, ok := slices.BinarySearchFunc(k.Files, name, func(f File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return Sum{}, false
	}
	return k.Files[i].Sum, true
}

// seal sorts the files in the order of the lock.
func (k *Locked) seal() {
	slices.SortFunc(k.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
}

// fileLines returns the lines of the library's files.
func (k *Locked) fileLines() string {
	var b strings.Builder
	for _, f := range k.Files {
		b.WriteString(f.Sum.String() + "  " + f.Name + "\n")
	}
	return b.String()
}

// Text returns the content of the file.
func (l *Lock) Text() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by `torchx lib`: commit it, do not edit it.\nversion %d\n", lockVersion)
	for _, k := range l.Libraries {
		fmt.Fprintf(&b, "\nlibrary %s\n", k.Name)
		if k.Folder != "" {
			fmt.Fprintf(&b, "folder %s\n", k.Folder)
		} else {
			fmt.Fprintf(&b, "url %s\nrevision %s\n", k.URL, k.Revision)
			if k.Path != "" {
				fmt.Fprintf(&b, "path %s\n", k.Path)
			}
			fmt.Fprintf(&b, "commit %s\n", k.Commit)
		}
		lines := k.fileLines()
		fmt.Fprintf(&b, "sum %s\nfiles %d\n%s", SumOf([]byte(lines)), len(k.Files), lines)
	}
	return []byte(b.String())
}

// lockParser parses a lock line by line.
type lockParser struct {
	rest string
	line int // number of the last line read, from 1
}

// ParseLock parses a lock. Errors have the form NAME:LINE: problem and remedy; name is the
// file's name in them.
func ParseLock(name string, data []byte) (*Lock, error) {
	if len(data) > maxLock {
		return nil, fmt.Errorf("%s: is over %s large: not a lock file", name, sizeText(maxLock))
	}
	p := &lockParser{rest: strings.TrimPrefix(string(data), "\uFEFF")}
	lock, err := p.lock()
	if err != nil {
		return nil, fmt.Errorf("%s:%d: broken lock file: %w; restore it from version control, or delete it and run `torchx lib sync`", name, max(p.line, 1), err)
	}
	return lock, nil
}

// next returns the next line; at the end ok is false.
func (p *lockParser) next() (line string, ok bool) {
	if p.rest == "" {
		return "", false
	}
	line, p.rest, _ = strings.Cut(p.rest, "\n")
	p.line++
	return strings.TrimSuffix(line, "\r"), true
}

// field returns the value of the next line, which must start with key.
func (p *lockParser) field(key string) (string, error) {
	line, ok := p.next()
	if !ok {
		return "", fmt.Errorf("it ends before %q", key)
	}
	value, ok := strings.CutPrefix(line, key+" ")
	if !ok {
		if isConflict(line) {
			return "", fmt.Errorf("it contains a merge conflict")
		}
		return "", fmt.Errorf("expected %q, not %q", key, short(line))
	}
	return value, nil
}

func (p *lockParser) lock() (*Lock, error) {
	if err := p.version(); err != nil {
		return nil, err
	}
	lock := &Lock{}
	for {
		line, ok := p.next()
		switch {
		case !ok:
			return lock, nil
		case line == "":
			continue
		case !strings.HasPrefix(line, "library "):
			if isConflict(line) {
				return nil, fmt.Errorf("it contains a merge conflict")
			}
			return nil, fmt.Errorf("expected a library, not %q", short(line))
		}
		k, err := p.library(line[len("library "):])
		if err != nil {
			return nil, err
		}
		if n := len(lock.Libraries); n > 0 && lock.Libraries[n-1].Name >= k.Name {
			return nil, fmt.Errorf("library %s is out of order", k.Name)
		}
		lock.Libraries = append(lock.Libraries, k)
	}
}

func (p *lockParser) version() error {
	for strings.HasPrefix(p.rest, "#") {
		p.next()
	}
	text, err := p.field("version")
	if err != nil {
		return err
	}
	switch n, err := strconv.Atoi(text); {
	case err != nil || n < 1:
		return fmt.Errorf("invalid version %q", short(text))
	case n > lockVersion:
		return fmt.Errorf("version %d needs a newer torchx", n)
	}
	return nil
}

func (p *lockParser) library(name string) (*Locked, error) {
	k := &Locked{Library: Library{Name: name, Line: p.line}}
	if err := p.source(k); err != nil {
		return nil, err
	}
	if err := k.Check(); err != nil {
		return nil, err
	}
	if k.Folder == "" && !git.IsHash(k.Commit) {
		return nil, fmt.Errorf("invalid commit %q", short(k.Commit))
	}
	return k, p.files(k)
}

// source parses the lines with the library's source.
func (p *lockParser) source(k *Locked) (err error) {
	if strings.HasPrefix(p.rest, "folder ") {
		k.Folder, err = p.field("folder")
		return err
	}
	if k.URL, err = p.field("url"); err != nil {
		return err
	}
	if k.Revision, err = p.field("revision"); err != nil {
		return err
	}
	if strings.HasPrefix(p.rest, "path ") {
		if k.Path, err = p.field("path"); err != nil {
			return err
		}
	}
	k.Commit, err = p.field("commit")
	return err
}

// files parses the files of a library and checks them against their sum.
func (p *lockParser) files(k *Locked) error {
	sum, err := p.field("sum")
	if err != nil {
		return err
	}
	text, err := p.field("files")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > MaxFiles {
		return fmt.Errorf("invalid number of files %q", short(text))
	}
	lines, end := p.rest, ""
	k.Files = make([]File, 0, min(n, len(p.rest)/66))
	for range n {
		line, ok := p.next()
		if !ok {
			return fmt.Errorf("it ends within the files of library %s", k.Name)
		}
		if err := k.addLine(line); err != nil {
			return err
		}
	}
	lines = lines[:len(lines)-len(p.rest)]
	if strings.Contains(lines, "\r") { // a checkout on Windows
		lines = strings.ReplaceAll(lines, "\r\n", "\n")
	}
	if n > 0 && !strings.HasSuffix(lines, "\n") {
		end = "\n"
	}
	if SumOf([]byte(lines+end)).String() != sum {
		return fmt.Errorf("the files of library %s do not match its sum", k.Name)
	}
	return nil
}

func (k *Locked) addLine(line string) error {
	const digits = 2 * sha256.Size
	if len(line) < digits+3 || line[digits:digits+2] != "  " {
		return fmt.Errorf("expected a file of library %s, not %q", k.Name, short(line))
	}
	f := File{Name: line[digits+2:]}
	if _, err := hex.Decode(f.Sum[:], []byte(line[:digits])); err != nil {
		return fmt.Errorf("invalid SHA-256 %q", line[:digits])
	}
	if err := checkPath(f.Name); err != nil {
		return err
	}
	if n := len(k.Files); n > 0 && k.Files[n-1].Name >= f.Name {
		return fmt.Errorf("file %s is out of order", f.Name)
	}
	k.Files = append(k.Files, f)
	return nil
}

// short shortens text for a message.
func short(text string) string {
	if len(text) > 60 {
		return text[:60] + "…"
	}
	return text
}
