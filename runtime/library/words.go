package library

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// splitWords splits a line at blanks. A word with blanks is quoted ("…"), with escapes as in Go;
// # at the start of a word starts a comment.
func splitWords(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		word, rest, err := cutWord(line)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
}

func cutWord(line string) (word, rest string, err error) {
	if line[0] != '"' {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if strings.Contains(line[:end], `"`) {
			return "", "", errors.New(`a " is allowed only at the start and the end of a word`)
		}
		return line[:end], line[end:], nil
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", errors.New(`a " is missing at the end of a word`)
	}
	rest = line[len(quoted):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", errors.New(`a space is missing after a closing "`)
	}
	word, err = strconv.Unquote(quoted)
	return word, rest, err
}

// joinWords returns a line that splitWords splits into the words.
func joinWords(words ...string) string {
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\"\\#") {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}

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
