package consent

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/runtime/pattern"
	"torchx/runtime/safefile"
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

var (
	// words matches the words of a shell command: texts in quotes, and what is between the
	// characters that end a word.
	words = pattern.Lazy("\"[^\"]*\"|'[^']*'|[^\\s;|&<>(){}$`=,\"']+")
	// runs matches words before the name of a program or script: programs that run others, and
	// variables.
	runs = pattern.Lazy(`^(|\.|([^ ]*/)?(\w*sh|python[\d.]*|perl|ruby|node|deno|bun|php|lua|Rscript|\w*awk|sed|make|java|go|uv|run|source|exec|eval|env|nohup|time|nice|timeout|sudo|xargs)|[A-Z_][A-Z_\d]*)$`)
	// scripts matches the names of scripts.
	scripts = pattern.Lazy(`\.(\w*sh|py|pl|rb|js|mjs|ts|php|lua|R|awk|sed|mk|so|jar|star)$`)
)

// Files returns the programs and scripts of folder that a shell command names by a path that is
// relative or in folder, sorted. It finds more rather than fewer, such as y of `cd x; ./y` and of
// $PWD/y. Files that are data, such as a log to send, are left out.
func Files(folder, command string) (files []string) {
	folders, before := []string{folder}, ""
	for _, name := range split(command) {
		if path := in(folder, name); isFolder(path) && Inside(folder, path) {
			folders = append(folders, path)
		}
	}
	for _, name := range split(command) {
		for _, dir := range folders {
			files = append(files, regular(folder, dir, name, runs().MatchString(before))...)
		}
		if !strings.HasPrefix(name, "-") {
			before = name
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// split returns the words of a command, and after a text in quotes the words in it.
func split(command string) (all []string) {
	for _, word := range words().FindAllString(command, -1) {
		plain := strings.Trim(word, `"'`)
		if all = append(all, plain); plain != word {
			all = append(all, words().FindAllString(plain, -1)...)
		}
	}
	return all
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

// regular returns the files that a word names: by itself, as a pattern, or behind a variable. Unless it
// is run, a file must look like a program.
func regular(folder, dir, name string, isRun bool) (files []string) {
	paths := []string{in(dir, name)}
	if _, rest, ok := strings.Cut(name, "/"); ok {
		paths = append(paths, filepath.Join(dir, rest))
	}
	for _, path := range paths {
		found, _ := filepath.Glob(path)
		for _, path := range append(found, path) {
			if (!filepath.IsAbs(name) || Inside(folder, path)) && isProgram(path, isRun) {
				files = append(files, path)
			}
		}
	}
	return files
}

// isProgram reports whether path is a regular file that is run or looks like a program.
func isProgram(path string, isRun bool) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	if isRun || info.Mode()&0o111 != 0 || scripts().MatchString(path) {
		return true
	}
	file, err := safefile.OpenInput(path)
	if err != nil {
		return false
	}
	defer file.Close()
	start := make([]byte, 2)
	n, _ := file.Read(start)
	return string(start[:n]) == "#!"
}
