package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Set opens the libraries of projects. It neither fetches nor writes. It is safe for
// concurrent use, and detects changes of projects' files.
type Set struct {
	Cache *Cache
	Dir   string // paths in messages are relative to it; "": they are absolute

	mu       sync.Mutex
	projects map[string]*state // by root
}

// notListedError is an fs.ErrNotExist with a helpful text.
type notListedError struct{ text string }

func (e *notListedError) Error() string { return e.text }
func (e *notListedError) Unwrap() error { return fs.ErrNotExist }

// state returns the current state of the project at root.
func (s *Set) state(root string) (*state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.projects[root]; known != nil && known.stamps == stamps(root) {
		return known, nil
	}
	st, err := readState(root, s.Dir)
	if err != nil {
		return nil, err
	}
	if s.projects == nil {
		s.projects = map[string]*state{}
	}
	s.projects[root] = st
	return st, nil
}

// Names returns the libraries of the project at root; none if its files are invalid.
func (s *Set) Names(root string) []string {
	st, err := s.state(root)
	if err != nil || st.project == nil {
		return nil
	}
	return st.project.Names()
}

// Open returns the files of a library. Each file is compared with the lock when it is read,
// except in a replaced library. An fs.ErrNotExist means that the project does not list the
// library. Errors are one line with a remedy.
func (s *Set) Open(root, name string) (fs.FS, error) {
	st, err := s.state(root)
	if err != nil {
		return nil, err
	}
	if st.project == nil {
		return nil, &notListedError{fmt.Sprintf("%s not found; create it with `torchx lib add %s URL [REVISION]`", displayPath(filepath.Join(root, ProjectFile), s.Dir), name)}
	}
	lib, ok := st.project.Find(name)
	if !ok {
		return nil, &notListedError{fmt.Sprintf("%s does not list it; add it with `torchx lib add %s URL [REVISION]`", displayPath(filepath.Join(root, ProjectFile), s.Dir), name)}
	}
	if r, ok := st.project.Replacement(name); ok {
		return s.openReplacement(root, r)
	}
	locked, err := st.locked(lib)
	if err != nil {
		return nil, err
	}
	return &content{lib: locked, read: s.reader(root, locked)}, nil
}

// Folder returns the folder that replaces a library of the project at root; false if it is not
// replaced. It can be edited together with the project.
func (s *Set) Folder(root, name string) (string, bool) {
	st, err := s.state(root)
	if err != nil || st.project == nil {
		return "", false
	}
	r, ok := st.project.Replacement(name)
	if !ok {
		return "", false
	}
	return folderOf(root, r.Folder), true
}

// openReplacement opens a folder without checks; links cannot lead out of it.
func (s *Set) openReplacement(root string, r Replacement) (fs.FS, error) {
	dir, err := os.OpenRoot(folderOf(root, r.Folder))
	if err != nil {
		// Not wrapped: fs.ErrNotExist would mean that the library is not listed.
		return nil, fmt.Errorf("%s:%d: the replacement folder %s cannot be opened: %v", displayPath(filepath.Join(root, ProjectFile), s.Dir), r.Line, r.Folder, pathCause(err)) //nolint:errorlint // see above
	}
	return dir.FS(), nil
}

// locked returns the lock of a library if it agrees with the project.
func (st *state) locked(lib Library) (*Locked, error) {
	locked := st.lock.Find(lib.Name)
	switch {
	case locked == nil:
		return nil, fmt.Errorf("it is not in %s: run `torchx lib sync`", LockFile)
	case locked.same(lib):
		return locked, nil
	case locked.Source() != lib.Source():
		return nil, fmt.Errorf("%s has source %s, but %s has %s: run `torchx lib sync`", LockFile,
			locked.Source(), ProjectFile, lib.Source())
	case locked.Revision != lib.Revision:
		return nil, fmt.Errorf("%s has revision %s, but %s has %s: run `torchx lib sync`", LockFile,
			locked.Revision, ProjectFile, lib.Revision)
	}
	return nil, fmt.Errorf("%s and %s have different paths: run `torchx lib sync`",
		LockFile, ProjectFile)
}

// reader returns the function that reads files of a library: from torchx.vendor if it is
// there, else from its folder or the cache.
func (s *Set) reader(root string, lib *Locked) func(name string, sum Sum) ([]byte, error) {
	if isVendored(root, lib.Name) {
		return func(name string, sum Sum) ([]byte, error) {
			return readVendored(root, lib.Name, name, sum)
		}
	}
	if lib.Folder != "" {
		return func(name string, sum Sum) ([]byte, error) { return readFolderFile(root, lib, name, sum) }
	}
	return func(_ string, sum Sum) ([]byte, error) { return s.readCached(sum) }
}

var errNotFetched = errors.New("it is not fetched yet: run `torchx lib sync`")

func (s *Set) readCached(sum Sum) ([]byte, error) {
	data, err := s.Cache.Get(sum)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errNotFetched
	case errors.Is(err, errDamaged):
		return nil, fmt.Errorf("%w: run `torchx lib sync`, which fetches it again", err)
	case err != nil:
		return nil, fmt.Errorf("its copy in the cache cannot be read (%w): run `torchx lib sync`", pathCause(err))
	}
	return data, nil
}

func readFolderFile(root string, lib *Locked, name string, sum Sum) ([]byte, error) {
	data, err := readBelow(folderOf(root, lib.Folder), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("it is gone from %s: restore it, or run `torchx lib update %s`",
			lib.Folder, lib.Name)
	case err != nil:
		return nil, pathCause(err)
	case SumOf(data) != sum:
		return nil, fmt.Errorf("it was changed in %s since it was locked: run `torchx lib update %s` to lock the current files", lib.Folder, lib.Name)
	}
	return data, nil
}

func isVendored(root, name string) bool {
	info, err := os.Lstat(filepath.Join(root, VendorDir, name))
	return err == nil && info.IsDir()
}

func readVendored(root, lib, name string, sum Sum) ([]byte, error) {
	data, err := readBelow(filepath.Join(root, VendorDir, lib), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("it is not in %s/%s: run `torchx lib vendor`", VendorDir, lib)
	case err != nil:
		return nil, fmt.Errorf("it cannot be read in %s/%s (%w): run `torchx lib vendor` to restore it", VendorDir, lib, pathCause(err))
	case SumOf(data) != sum:
		return nil, fmt.Errorf("it was changed in %s/%s: run `torchx lib vendor` to restore it", VendorDir, lib)
	}
	return data, nil
}

// readBelow reads a regular file below dir. Links cannot lead out of it.
func readBelow(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info, MaxFile); err != nil {
		return nil, err
	}
	return root.ReadFile(name)
}
