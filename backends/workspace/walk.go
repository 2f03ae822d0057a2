package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"torchx/runtime/safefile"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// ignores selects the files that a project excludes, by Docker's rules: the last matching
// pattern counts, and files in an ignored folder are ignored, too.
type ignores struct {
	file    string                         // its name
	matcher *patternmatcher.PatternMatcher // nil: nothing is ignored
	parents map[string]patternmatcher.MatchInfo
}

func (t *Tree) readIgnores(root string) (*ignores, error) {
	names := []string{ignoreFile}
	if t.isCopy {
		names = []string{copyIgnoreFile, ignoreFile}
	}
	for _, name := range names {
		data, err := safefile.ReadInput(filepath.Join(root, name), maxText)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, plain(err)
		}
		patterns, err := ignorefile.ReadAll(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		m, err := patternmatcher.New(patterns)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return &ignores{name, m, map[string]patternmatcher.MatchInfo{}}, nil
	}
	return &ignores{file: names[0]}, nil
}

// match reports whether a path, with slashes, is ignored. It must be called for parents first.
func (i *ignores) match(rel string) (bool, error) {
	if i.matcher == nil || rel == Dockerfile {
		return false, nil
	}
	ignored, info, err := i.matcher.MatchesUsingParentResults(filepath.FromSlash(rel),
		i.parents[path.Dir(rel)])
	i.parents[rel] = info
	if err != nil {
		return false, fmt.Errorf("%s: %w", i.file, err)
	}
	return ignored, nil
}

// mayContain reports whether a pattern with ! may include files in an ignored folder.
func (i *ignores) mayContain(dir string) bool {
	if !i.matcher.Exclusions() {
		return false
	}
	for _, p := range i.matcher.Patterns() {
		if !p.Exclusion() {
			continue
		}
		text := filepath.ToSlash(p.String())
		// A pattern with ** can match at any depth, others only at their own depth.
		if strings.Contains(text, "**") || mayMatchBelow(dir, text) {
			return true
		}
	}
	return false
}

// mayMatchBelow reports whether pattern can match below dir: whether dir matches its start.
func mayMatchBelow(dir, pattern string) bool {
	d, p := strings.Split(dir, "/"), strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	for n := range min(len(d), len(p)) {
		if ok, err := path.Match(p[n], d[n]); err != nil || !ok {
			return err != nil // an invalid pattern may match
		}
	}
	return true
}

// addFolder adds everything below root, including empty folders. It does not follow links.
func (t *Tree) addFolder(found map[string]entry, root, into string) error {
	skip, err := t.readIgnores(root)
	if err != nil {
		return err
	}
	return filepath.WalkDir(root, func(source string, d fs.DirEntry, err error) error {
		if source == root {
			return plain(err)
		}
		rel, relErr := filepath.Rel(root, source)
		if relErr != nil {
			return relErr
		}
		rel = filepath.ToSlash(rel)
		ignored, matchErr := skip.match(rel)
		if matchErr != nil {
			return matchErr
		}
		switch {
		case ignored && d.IsDir() && !skip.mayContain(rel):
			return fs.SkipDir
		case ignored:
			return nil
		case err != nil:
			return fmt.Errorf("%w (exclude it in %s)", plain(err), skip.file)
		}
		info, err := d.Info()
		if err != nil {
			return plain(err)
		}
		return t.addEntry(found, source, path.Join(into, rel), info)
	})
}
