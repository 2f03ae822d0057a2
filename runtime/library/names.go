package library

import (
	"fmt"
	"path"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// names finds paths of a library that cannot be files side by side everywhere: a path that
// stands twice in a damaged tree, or two that differ only in case or Unicode form.
type names struct{ seen map[string]name } // by the folded path

type name struct {
	path   string
	folder bool
}

// add notes a file or folder. Folders come before what is in them.
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
		return fmt.Errorf("the path %q is in it twice: the tree of the commit is damaged", file)
	case !folder || !old.folder:
		return fmt.Errorf("%q and %q are one file where case does not count: rename one", old.path, file)
	}
	return nil
}

// fold returns what two paths have in common that are one where case and the form of
// accents do not count.
func fold(path string) string {
	if !isPlain(path) {
		path = norm.NFC.String(path)
	}
	return strings.ToLower(path)
}

// isGitFolder reports whether some system takes a name for git's own folder: Windows drops dots
// and spaces at the end, has short names and streams (a:b); macOS drops invisible characters.
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
