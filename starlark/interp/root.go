package interp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// WorkspaceRoot returns the folder that "//" stands for in file and in what it
// loads: the nearest folder above file that holds .torchxconfig, torchx.libs (the
// list of its libraries), a folder components, or .git; without any, the folder of
// file.
func WorkspaceRoot(file string) string {
	start := filepath.Dir(absFrom("", file))
	for dir := start; ; dir = filepath.Dir(dir) {
		if isRoot(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return start
		}
	}
}

func isRoot(dir string) bool {
	for _, mark := range []string{".torchxconfig", ".git", "torchx.libs"} {
		if _, err := os.Stat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	info, err := os.Stat(filepath.Join(dir, "components"))
	return err == nil && info.IsDir()
}

// absFrom makes path absolute; a relative one starts at dir, or at the working
// folder when dir is "".
func absFrom(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	if dir == "" {
		dir = workingFolder()
	}
	return filepath.Join(dir, path)
}

// nameUnder returns the slash-separated name of the file abs inside root.
func nameUnder(root, abs string) (string, error) {
	rel, err := filepath.Rel(root, abs)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", fmt.Errorf("is not inside its workspace root %s", root)
	}
	return filepath.ToSlash(rel), nil
}

// relativeTo shortens abs for messages when it lies inside dir.
func relativeTo(dir, abs string) string {
	if name, err := nameUnder(dir, abs); err == nil {
		return filepath.FromSlash(name)
	}
	return abs
}
