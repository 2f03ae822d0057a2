package component

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/starlark/starfiles"
)

// forEachFile calls do for each .star file of the paths, with its name as the user would type
// it. It continues after errors, prints each unless it is quiet, and fails at the end.
func forEachFile(f *program.Factory, paths []string, do func(name string) error) error {
	files, err := starfiles.Find(f.Env.Dir, paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		f.Say("no .star files in %s", pathsText(paths))
	}
	failed := false
	for _, name := range files {
		err := do(name)
		if program.IsBrokenPipe(err) {
			return err
		}
		failed = failed || err != nil
		if quiet := program.QuietError(0); err != nil && !errors.As(err, &quiet) {
			f.Explain(err)
		}
	}
	if failed {
		return program.QuietError(program.ExitError)
	}
	return nil
}

// pathsText joins the paths of a command; no paths mean the working folder.
func pathsText(paths []string) string {
	if len(paths) == 0 {
		return "."
	}
	return strings.Join(paths, ", ")
}

// replaceFile replaces a file atomically, by renaming a complete one. A symlink stays a symlink,
// and an existing file keeps its mode.
func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o644)
	switch real, err := filepath.EvalSymlinks(path); {
	case err == nil:
		info, err := os.Stat(real)
		if err != nil {
			return err
		}
		path, mode = real, info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".torchx-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
