package program

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CreateWhole writes a file atomically. An existing file is an error that ends with hint,
// unless force is set.
func CreateWhole(path string, data []byte, force bool, hint string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	} else if err == nil && !force {
		return ExistsError(path, hint)
	}
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, PathCause(err))
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(0o644), temp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, PathCause(err))
	}
	if !force {
		// Unlike a rename, a link never replaces a file that another process has just created.
		switch err := os.Link(temp.Name(), path); {
		case err == nil:
			return nil
		case errors.Is(err, fs.ErrExist):
			return ExistsError(path, hint)
		}
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, linkCause(err))
	}
	return nil
}

// ExistsError returns the error for an existing file; hint says what to do.
func ExistsError(path, hint string) error {
	return fmt.Errorf("%s exists and is not overwritten: %s", path, hint)
}

func linkCause(err error) error {
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}
