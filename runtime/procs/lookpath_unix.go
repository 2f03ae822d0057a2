//go:build unix

package procs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Causes of a failed LookPath, worded as the end of a sentence whose subject is the program.
// They wrap fs.ErrNotExist (a shell exits with 127) or fs.ErrPermission (126).
var (
	ErrNotFound      = &LookupError{"not found", fs.ErrNotExist}
	ErrNotExecutable = &LookupError{"is not executable", fs.ErrPermission}
	ErrIsFolder      = &LookupError{"is a folder", fs.ErrPermission}
	errUnreadable    = &LookupError{"is in a folder that you may not read", fs.ErrPermission}
)

// LookupError says why a name is not a program.
type LookupError struct {
	text  string
	class error
}

func (e *LookupError) Error() string { return e.text }
func (e *LookupError) Unwrap() error { return e.class }

// LookPath returns the path of a program: of a name with a slash relative to dir, of another from
// the folders of list (the value of PATH), of which relative and empty ones are relative to dir,
// too. As in shells, a folder that the user may not read counts as one without the program, and a
// file that the user may not execute yields to a later one. Errors: *LookupError.
func LookPath(name, list, dir string) (string, error) {
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		return path, Executable(path)
	}
	refused := error(ErrNotFound)
	for _, d := range filepath.SplitList(list) {
		if !filepath.IsAbs(d) {
			d = filepath.Join(dir, d)
		}
		path := filepath.Join(d, name)
		err := Executable(path)
		if err == nil {
			return path, nil
		}
		if errors.Is(err, fs.ErrPermission) && !errors.Is(err, errUnreadable) {
			refused = err
		}
	}
	return "", refused
}

// Executable returns nil if the user may execute a file. Errors: *LookupError.
func Executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return errUnreadable
	case err != nil:
		return ErrNotFound
	case info.IsDir():
		return ErrIsFolder
	case unix.Faccessat(unix.AT_FDCWD, path, unix.X_OK, unix.AT_EACCESS) != nil:
		return ErrNotExecutable
	}
	return nil
}
