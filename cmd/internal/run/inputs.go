package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"torchx/backends/workspace"
	"torchx/cmd/internal/program"
	"torchx/runtime/config"
)

// inputs are the files that a run reads.
type inputs struct {
	files   []string // also of files that do not exist yet
	folders []string // workspaces
}

// newInputs returns the inputs of every run in a folder.
func newInputs(dir string, files []string) *inputs {
	return &inputs{files: append([]string{filepath.Join(dir, config.FileName)}, files...)}
}

func (in *inputs) add(last *inputs) {
	if last != nil {
		in.files, in.folders = append(in.files, last.files...), last.folders
	}
}

// guess adds the files in which a component may be that cannot be evaluated.
func (in *inputs) guess(reference string) {
	file, _, _ := strings.Cut(reference, ".star:")
	in.files = append(in.files, file+".star")
	for _, pattern := range []string{"*.star", "components/*.star", "components/*/*.star"} {
		found, _ := filepath.Glob(filepath.Join(filepath.Dir(in.files[0]), pattern))
		in.files = append(in.files, found...)
	}
}

// check returns an error if no change of a file can help: there is no file to change, or the
// component was not found.
func (in *inputs) check(name string, evaluation error) error {
	s := in.snapshot()
	found := func(suffix string) bool {
		for path, state := range s {
			if state != missing && state != folder && strings.HasSuffix(path, suffix) {
				return true
			}
		}
		return false
	}
	switch {
	case evaluation != nil && !found(".star"):
		return evaluation
	case !found(""):
		return program.Usagef("run", "%s has nothing to watch: %s is built in and the folder is not a project (choose a folder with --workspace)", watchFlag, name)
	}
	return nil
}

// States of what is not a file.
const (
	missing = "missing"
	folder  = "folder"
)

// snapshot tells the state of each file by its path: size, mode and time of change.
type snapshot map[string]string

func (in *inputs) snapshot() snapshot {
	s := snapshot{}
	for _, file := range in.files {
		s.add(file)
	}
	for _, dir := range in.folders {
		tree, err := workspace.ScanCopy([]workspace.Project{{Path: dir}})
		if err != nil {
			s[dir] = err.Error()
			continue
		}
		root, _ := filepath.EvalSymlinks(dir)
		for _, source := range tree.Sources() {
			if rel, err := filepath.Rel(root, source); err == nil && !isNoise(rel) {
				s.add(source)
			}
		}
	}
	return s
}

func (s snapshot) add(path string) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		s[path] = missing
	case info.IsDir():
		s[path] = folder
	default:
		s[path] = fmt.Sprint(info.Size(), info.Mode(), info.ModTime().UnixNano())
	}
}

// isNoise reports whether programs write a file by the way: git, Python and editors.
func isNoise(path string) bool {
	name := filepath.Base(path)
	if strings.HasSuffix(name, "~") || strings.HasPrefix(name, ".#") || strings.HasPrefix(name, ".") && strings.Contains(filepath.Ext(name), ".sw") {
		return true
	}
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return part == ".git" || part == "__pycache__"
	})
}

// diff returns the paths that differ in a later snapshot, sorted.
func (s snapshot) diff(later snapshot) (changed []string) {
	for path, state := range later {
		if s[path] != state {
			changed = append(changed, path)
		}
	}
	for path := range s {
		if _, ok := later[path]; !ok {
			changed = append(changed, path)
		}
	}
	// A folder changes with its files, which say more.
	slices.SortFunc(changed, func(a, b string) int {
		if x, y := later[a] == folder, later[b] == folder; x != y {
			if x {
				return 1
			}
			return -1
		}
		return strings.Compare(a, b)
	})
	return changed
}

// describe names what is watched.
func (s snapshot) describe(short func(string) string, folders []string) string {
	count := 0
	for _, state := range s {
		if state != missing && state != folder {
			count++
		}
	}
	text := fmt.Sprintf("%d files", count)
	if count == 1 {
		text = "1 file"
	}
	if len(folders) > 0 {
		text += " (workspace " + short(folders[0]) + ")"
	}
	return text
}
