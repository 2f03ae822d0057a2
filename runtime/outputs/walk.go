// Package outputs reads the folder in which an app keeps its files. Programs may write
// anything there while it is read, so no link is followed out of the folder, and no file
// but a regular one is opened.
//
//	Walk    lists a folder in order, with memory that does not depend on its size
//	Copier  copies files and folders out of it, each file at once or not at all
package outputs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"time"
)

// Entry is a file, a link, a special file or a folder.
type Entry struct {
	Name   string // path below the folder, with slashes
	Mode   fs.FileMode
	Size   int64 // bytes; 0 unless it is a regular file
	Time   time.Time
	Target string // of a symbolic link
	Empty  bool   // a folder without entries
	Err    error  // why a folder cannot be read
}

// Walk calls visit for everything below a folder, sorted by name within each folder, a folder
// before what it has. What vanishes meanwhile is skipped.
func Walk(dir string, visit func(Entry) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return walk(root, "", visit)
}

// List calls visit for everything in one folder below dir, sorted by name, with names below
// that folder.
func List(dir, folder string, visit func(Entry) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if folder != "" {
		if root, err = root.OpenRoot(folder); err != nil {
			return err
		}
		defer root.Close()
	}
	return eachName(root, func(base string) error {
		info, err := root.Lstat(base)
		if err != nil {
			return nil //nolint:nilerr // it vanished
		}
		return visit(Entry{Name: base, Mode: info.Mode(), Size: info.Size()})
	})
}

// walk visits what is in root; name is the path of root.
func walk(root *os.Root, name string, visit func(Entry) error) error {
	return eachName(root, func(base string) error {
		info, err := root.Lstat(base)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path.Join(name, base), err)
		}
		e := Entry{Name: path.Join(name, base), Mode: info.Mode(), Time: info.ModTime()}
		switch {
		case info.IsDir():
			return walkFolder(root, base, e, visit)
		case info.Mode().IsRegular():
			e.Size = info.Size()
		case info.Mode()&fs.ModeSymlink != 0:
			e.Target, _ = root.Readlink(base) // it may have been replaced
		}
		return visit(e)
	})
}

func walkFolder(parent *os.Root, base string, e Entry, visit func(Entry) error) error {
	root, err := parent.OpenRoot(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		defer root.Close()
		e.Empty, err = isEmpty(root)
	}
	e.Err = err
	if err := visit(e); err != nil || e.Err != nil {
		return err
	}
	return walk(root, e.Name, visit)
}

// HasFiles reports whether a folder exists and is not empty.
func HasFiles(dir string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	empty, err := isEmpty(root)
	return err == nil && !empty
}
