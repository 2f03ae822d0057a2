// Package library manages the component libraries of a project: their sources, locked commits
// and files.
//
// Three files of a project describe everything; they belong into version control:
//
//	torchx.libs     the wanted libraries, edited by users (see Project)
//	torchx.lock     their commits and the SHA-256 of every file (see Lock)
//	torchx.vendor/  the files themselves, if the project stores them (optional)
//
// Files of libraries come from a content-addressed cache (see Cache), from torchx.vendor, or
// from a folder of this machine. Every file is compared with the lock when it is read
// (Set.Open); only folders named by `replace` lines are read unchecked. The package evaluates
// no components, and only a Manager fetches.
//
// Names, URLs, revisions and paths are untrusted input: checks.go rejects those that could be
// taken for an option of a command, leave a folder or control a terminal. Errors are one line,
// with FILE:LINE: first if possible.
package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// walkFolder reads the files of a folder by name. Files and folders that start with a dot
// (.git, .venv) are not part of the library; links and special files are errors.
func walkFolder(dir string, visit func(name string, data []byte) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("the folder %s cannot be opened: %w", dir, pathCause(err))
	}
	defer root.Close()
	limit, seen := &budget{}, &names{}
	return fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("the folder %s cannot be read: %w", dir, err)
		case name == ".":
			return nil
		case strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err := seen.add(name, entry.IsDir()); err != nil {
			return err
		}
		if entry.IsDir() {
			return limit.takeFolder()
		}
		if err := checkEntry(name, entry, limit); err != nil {
			return err
		}
		data, err := root.ReadFile(name)
		if err != nil {
			return fmt.Errorf("the file %s in %s cannot be read: %w", name, dir, pathCause(err))
		}
		return visit(name, data)
	})
}

func checkEntry(name string, entry fs.DirEntry, limit *budget) error {
	if entry.Type()&fs.ModeSymlink != 0 {
		return linkError(name)
	}
	info, err := entry.Info()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, and a library may contain no others", name)
	}
	if err := checkPath(name); err != nil {
		return err
	}
	return limit.take(name, info.Size())
}

func linkError(name string) error {
	return fmt.Errorf("%s is a symbolic link, which a library may not contain: replace it with a file", name)
}

// budget counts the folders, files and bytes of a library.
type budget struct {
	folders, files int
	bytes          int64
}

func (b *budget) takeFolder() error {
	if b.folders++; b.folders > MaxFiles {
		return fmt.Errorf("it has over %d folders: use only a folder of it with path= (see `torchx lib --help`)", MaxFiles)
	}
	return nil
}

func (b *budget) take(name string, size int64) error {
	b.files++
	b.bytes += size
	if err := checkSize(name, size); err != nil {
		return err
	}
	if b.files > MaxFiles {
		return fmt.Errorf("it has over %d files: use only a folder of it with path= (see `torchx lib --help`)", MaxFiles)
	}
	if b.bytes > MaxTotal {
		return errors.New("it is over " + sizeText(MaxTotal) + " large: use only a folder of it with path= (see `torchx lib --help`)")
	}
	return nil
}

// Names of the files and folders of a project.
const (
	ProjectFile = "torchx.libs"
	LockFile    = "torchx.lock"
	VendorDir   = "torchx.vendor"
)

// Limits of one library. A Starlark file may be as large as the interpreter accepts; the other
// limits allow documents and pictures, but not data sets.
const (
	MaxStarlarkFile = 1 << 20   // bytes
	MaxFile         = 16 << 20  // bytes
	MaxTotal        = 256 << 20 // bytes
	MaxFiles        = 20_000
)
