package library

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// names detects paths that conflict on some systems: a path that occurs twice in a damaged
// tree, or two that differ only in case or Unicode form.
type names struct{ seen map[string]name } // by the folded path

type name struct {
	path   string
	folder bool
}

// add adds a file or folder. Folders come before their entries.
func (n *names) add(file string, folder bool) error {
	if n.seen == nil {
		n.seen = map[string]name{".": {".", true}}
	}
	if above, ok := n.seen[fold(path.Dir(file))]; !ok || !above.folder {
		return fmt.Errorf("the path %q is not in a folder: the tree of the commit is damaged", file)
	}
	key := fold(file)
	old, ok := n.seen[key]
	switch {
	case !ok:
		n.seen[key] = name{file, folder}
	case old.path == file:
		return fmt.Errorf("the path %q occurs twice: the tree of the commit is damaged", file)
	case !folder || !old.folder:
		return fmt.Errorf("%q and %q are the same file on case-insensitive file systems: rename one", old.path, file)
	}
	return nil
}

// fold returns the same text for paths that differ only in case or in the form of accents.
func fold(path string) string {
	if !isPlain(path) {
		path = norm.NFC.String(path)
	}
	return strings.ToLower(path)
}

// isGitFolder reports whether a system could take a name for git's own folder: Windows ignores
// dots and spaces at the end and has short names and streams (a:b); macOS ignores invisible
// characters.
func isGitFolder(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	name = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
