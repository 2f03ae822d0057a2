package consent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/lazyregexp"
)

// Inside reports whether path stays in folder, wherever symbolic links lead. A link to nothing and
// ".." count as outside.
func Inside(folder, path string) bool {
	if slices.Contains(strings.Split(filepath.ToSlash(path), "/"), "..") {
		return false
	}
	root, errRoot := Real(folder)
	real, err := Real(path)
	if err != nil || errRoot != nil {
		return false
	}
	rel, err := filepath.Rel(root, real)
	return err == nil && filepath.IsLocal(rel)
}

// Real returns path without symbolic links; the part that does not exist yet is taken as it is. It
// fails for a link to nothing.
func Real(path string) (string, error) {
	if _, err := os.Lstat(path); err == nil || path == filepath.Dir(path) {
		return filepath.EvalSymlinks(path)
	}
	folder, err := Real(filepath.Dir(path))
	return filepath.Join(folder, filepath.Base(path)), err
}

// words matches the words of a shell command: texts in quotes, and what is between the characters
// that end a word.
var words = lazyregexp.New("\"[^\"]*\"|'[^']*'|[^\\s;|&<>(){}$`=,\"']+")

// Files returns the files of folder that a shell command names: regular files whose path is relative
// or in folder, sorted. It finds more rather than fewer, such as y of `cd x; ./y` and of $PWD/y.
func Files(folder, command string) (files []string) {
	folders := []string{folder}
	var names []string
	for _, word := range words().FindAllString(command, -1) {
		word = strings.Trim(word, `"'`)
		names = append(append(names, word), words().FindAllString(word, -1)...)
	}
	for _, name := range names {
		if path := in(folder, name); isFolder(path) && Inside(folder, path) {
			folders = append(folders, path)
		}
	}
	for _, name := range names {
		for _, folder := range folders {
			files = append(files, regular(folder, name)...)
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func in(folder, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(folder, name)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// regular returns the files that a word names: by itself, as a pattern, or behind a variable.
func regular(folder, name string) (files []string) {
	paths := []string{in(folder, name)}
	if _, rest, ok := strings.Cut(name, "/"); ok {
		paths = append(paths, filepath.Join(folder, rest))
	}
	for _, path := range paths {
		found, _ := filepath.Glob(path)
		for _, path := range append(found, path) {
			info, err := os.Stat(path)
			if err == nil && info.Mode().IsRegular() && (!filepath.IsAbs(name) || Inside(folder, path)) {
				files = append(files, path)
			}
		}
	}
	return files
}
