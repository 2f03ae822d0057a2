// Package starfiles finds the Starlark files for the path arguments of a command, and formats them
// like `buildifier -lint=off`, with the library of buildifier
// (github.com/bazelbuild/buildtools/build).
package starfiles

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	suffix     = ".star"
	testSuffix = "_test.star"
)

// IsTest reports whether name is the name of a test file.
func IsTest(name string) bool { return strings.HasSuffix(name, testSuffix) }

// Find returns the .star files of paths, each once, with names that start with the path they were
// found by. A path is a file or a folder, also written "folder/..."; no paths mean dir, the
// absolute folder that paths are relative to. Find skips folders below a path that are hidden or
// called testdata, vendor or torchx.vendor. Errors: a path that does not exist, or is not a .star
// file.
func Find(dir string, paths []string) ([]string, error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	f := finder{dir: dir, seen: map[string]bool{}}
	for _, p := range paths {
		if err := f.path(p); err != nil {
			return nil, err
		}
	}
	return f.found, nil
}

// Tests finds test files only. x.star stands for its test file, x_test.star.
func Tests(dir string, paths []string) ([]string, error) {
	named := slices.Clone(paths)
	for i, p := range paths {
		if stem, ok := strings.CutSuffix(p, suffix); ok && !IsTest(p) {
			named[i] = stem + testSuffix
			if _, err := os.Stat(Absolute(dir, named[i])); errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s has no test file: %s does not exist", p, named[i])
			}
		}
	}
	files, err := Find(dir, named)
	return slices.DeleteFunc(files, func(name string) bool { return !IsTest(name) }), err
}

type finder struct {
	dir   string
	found []string
	seen  map[string]bool // absolute paths
}

// Absolute returns a path of Find as an absolute path.
func Absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

func (f *finder) path(path string) error {
	if path == "" {
		return errors.New("a path is empty: name a .star file or a folder")
	}
	if path == "..." {
		path = "."
	}
	if folder, ok := strings.CutSuffix(filepath.ToSlash(path), "/..."); ok {
		path = filepath.FromSlash(folder)
		if path == "" {
			path = string(filepath.Separator)
		}
	}
	info, err := os.Stat(Absolute(f.dir, path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: name a .star file or a folder", path)
	case err != nil:
		return err
	case info.IsDir():
		return f.folder(path)
	case !strings.HasSuffix(path, suffix):
		return fmt.Errorf("%s is not a .star file", path)
	}
	f.add(filepath.Clean(path))
	return nil
}

// folder adds all files below a folder. It does not follow symbolic links.
func (f *finder) folder(path string) error {
	top := Absolute(f.dir, path)
	return filepath.WalkDir(top, func(at string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && at != top && isSkipped(e.Name()):
			return filepath.SkipDir
		case e.Type().IsRegular() && strings.HasSuffix(e.Name(), suffix):
			rel, err := filepath.Rel(top, at)
			if err != nil {
				return err
			}
			f.add(filepath.Join(path, rel))
		}
		return nil
	})
}

func isSkipped(folder string) bool {
	return strings.HasPrefix(folder, ".") ||
		slices.Contains([]string{"testdata", "vendor", "torchx.vendor"}, folder)
}

func (f *finder) add(name string) {
	if abs := Absolute(f.dir, name); !f.seen[abs] {
		f.seen[abs] = true
		f.found = append(f.found, name)
	}
}
