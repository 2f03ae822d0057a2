package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// MakeFolder creates a folder with its parents. It refuses a folder below base that a link leads
// out of base: a clone may have brought the link. Other folders are those that the user named.
func MakeFolder(base, dir string) error {
	if err := CheckInside(base, dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create %s: %w", dir, PathCause(err))
	}
	return nil
}

// CheckInside returns an error if base contains path by name, but not the place it leads to.
func CheckInside(base, path string) error {
	if !isBelow(base, path) {
		return nil
	}
	root, err := filepath.EvalSymlinks(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	// Folders that do not exist contain no links.
	existing := path
	for _, err := os.Lstat(existing); errors.Is(err, fs.ErrNotExist); _, err = os.Lstat(existing) {
		existing = filepath.Dir(existing)
	}
	real, err := filepath.EvalSymlinks(existing)
	if err != nil {
		return fmt.Errorf("%s: %w", existing, PathCause(err))
	}
	if !isBelow(root, real) {
		return fmt.Errorf("%s is not written to: a link leads to %s, outside of %s (remove the link, or name the folder itself)", path, real, base)
	}
	return nil
}

// isBelow reports whether a path is a folder or below it, by name.
func isBelow(folder, path string) bool {
	name, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(name)
}
