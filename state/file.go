package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"

	"torchx/runtime/filelock"
	"torchx/runtime/history"
)

const (
	folderMode fs.FileMode = 0o700
	fileMode   fs.FileMode = 0o600
)

// sqliteFiles are the suffixes of the files that SQLite opens. It would wait forever for a named
// pipe.
var sqliteFiles = []string{"", "-wal", "-shm", "-journal"}

// prepareFile creates folder and file with their permissions, regardless of the umask; SQLite
// gives its -wal and -shm files those of the database.
func prepareFile(path string) error {
	for _, suffix := range sqliteFiles {
		if info, err := os.Stat(path + suffix); err == nil && !info.Mode().IsRegular() {
			return &sentinelError{ErrUnavailable, fmt.Errorf("%s is not a regular file", path+suffix)}
		}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := makeFolder(filepath.Dir(path)); err != nil {
			return fileError(err)
		}
		return fileError(createFile(path))
	case err != nil:
		return fileError(err)
	case info.Mode().Perm()&0o077 != 0:
		_ = os.Chmod(path, fileMode) // harmless if it fails: another owner, or no modes
	}
	return nil
}

func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil // do not change an existing folder
	}
	if parent := filepath.Dir(dir); parent != dir {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, folderMode); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	return os.Chmod(dir, folderMode)
}

// createFile creates an empty file that appears at path with its mode set. It uses a temporary
// name: closing a descriptor of a file drops all locks of this process on it, so the real file
// must never be opened besides SQLite.
func createFile(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".state-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(f.Chmod(fileMode), f.Close()); err != nil {
		return err
	}
	err = os.Link(f.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	// A file system without hard links.
	g, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, fileMode)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return g.Close()
}

// sentinelError is an operating system error with its sentinel.
type sentinelError struct{ kind, err error }

func (k *sentinelError) Error() string   { return k.err.Error() }
func (k *sentinelError) Unwrap() []error { return []error{k.kind, k.err} }

func fileError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission), isReadOnlyFS(err):
		return &sentinelError{ErrReadOnly, err}
	case isNoSpace(err):
		return &sentinelError{history.ErrFull, err}
	}
	return &sentinelError{ErrUnavailable, err}
}

// SetAside renames a corrupt history (and its journal) to path.corrupt-<UTC time>, so that the
// next Open creates a new one. It returns the new name; "" if the history is not (or no longer)
// corrupt. If several processes find the damage, only one renames it.
func SetAside(ctx context.Context, path string, now time.Time) (string, error) {
	const op = "set history aside"
	lock, err := filelock.Acquire(path + ".lock")
	if err != nil {
		return "", wrapPath(op, path, fileError(err))
	}
	defer lock.Close()
	if err := check(ctx, path); err == nil || !errors.Is(kindOf(err), ErrCorrupt) {
		return "", wrapPath(op, path, err)
	}
	aside, err := freeName(path + ".corrupt-" + now.UTC().Format("20060102T150405.000000000Z"))
	if err != nil {
		return "", wrapPath(op, path, fileError(err))
	}
	// Journals first: SQLite could take leftover journals for those of a new file.
	for _, suffix := range []string{"-wal", "-journal", ""} {
		if err := os.Rename(path+suffix, aside+suffix); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return "", wrapPath(op, path, fileError(err))
		}
	}
	_ = os.Remove(path + "-shm") // -shm is only an index of the WAL
	return aside, nil
}

func freeName(name string) (string, error) {
	for i := 0; ; i++ {
		free := name
		if i > 0 {
			free = fmt.Sprintf("%s.%d", name, i)
		}
		_, err := os.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", err
		}
	}
}

// check returns SQLite's error if the file is damaged. A missing file is fine.
func check(ctx context.Context, path string) (err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	c, err := sqlite.NewConnector("file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?_error_rc=1&_busy_timeout=2000")
	if err != nil {
		return err
	}
	s := sql.OpenDB(c)
	defer func() { err = errors.Join(err, s.Close()) }()
	var found string
	if err := s.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%s: %w", found, ErrCorrupt)
	}
	return nil
}
