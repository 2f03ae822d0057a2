package library

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// content is a locked library as a file system. It has exactly the files of the lock, and
// compares each with the lock whenever it is read.
type content struct {
	lib  *Locked
	read func(name string, sum Sum) ([]byte, error)

	once sync.Once
	dirs map[string][]fs.DirEntry // by the folder's path, created when a folder is first read
}

var (
	_ fs.ReadFileFS = (*content)(nil)
	_ fs.ReadDirFS  = (*content)(nil)
	_ fs.StatFS     = (*content)(nil)
)

// ReadFile returns the content of a file, which matches the lock.
func (c *content) ReadFile(name string) ([]byte, error) {
	sum, ok := c.lib.Sum(name)
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	data, err := c.read(name, sum)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// Open opens a file or a folder.
func (c *content) Open(name string) (fs.File, error) {
	if _, ok := c.lib.Sum(name); ok {
		data, err := c.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return &openFile{Reader: bytes.NewReader(data), info: fileInfo{path.Base(name), int64(len(data)), 0o444}}, nil
	}
	entries, err := c.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &openDir{info: dirInfo(name), entries: entries}, nil
}

// Stat returns the type of a file or folder. It reads no file, so their size is 0.
func (c *content) Stat(name string) (fs.FileInfo, error) {
	if _, ok := c.lib.Sum(name); ok {
		return fileInfo{path.Base(name), 0, 0o444}, nil
	}
	if _, err := c.ReadDir(name); err != nil {
		return nil, err
	}
	return dirInfo(name), nil
}

// ReadDir lists a folder, sorted by name.
func (c *content) ReadDir(name string) ([]fs.DirEntry, error) {
	c.once.Do(c.index)
	entries, ok := c.dirs[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return slices.Clone(entries), nil
}

// index creates the folders from the names of files.
func (c *content) index() {
	c.dirs = map[string][]fs.DirEntry{".": nil}
	for _, f := range c.lib.Files {
		dir := path.Dir(f.Name)
		c.addDir(dir)
		c.dirs[dir] = append(c.dirs[dir], fs.FileInfoToDirEntry(fileInfo{path.Base(f.Name), 0, 0o444}))
	}
	for _, entries := range c.dirs {
		slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
}

func (c *content) addDir(dir string) {
	if _, known := c.dirs[dir]; known {
		return
	}
	c.dirs[dir] = nil
	parent := path.Dir(dir)
	c.addDir(parent)
	c.dirs[parent] = append(c.dirs[parent], fs.FileInfoToDirEntry(dirInfo(dir)))
}

// fileInfo describes a file or folder of a library.
type fileInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func dirInfo(name string) fileInfo { return fileInfo{path.Base(name), 0, fs.ModeDir | 0o555} }

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.size }
func (i fileInfo) Mode() fs.FileMode  { return i.mode }
func (i fileInfo) ModTime() time.Time { return time.Time{} }
func (i fileInfo) IsDir() bool        { return i.mode.IsDir() }
func (i fileInfo) Sys() any           { return nil }

type openFile struct {
	*bytes.Reader
	info fileInfo
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *openFile) Close() error               { return nil }

type openDir struct {
	info    fileInfo
	entries []fs.DirEntry
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.info.name, Err: fs.ErrInvalid}
}

// ReadDir returns the next n entries, or all remaining ones if n is not positive.
func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 && len(d.entries) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(d.entries) {
		n = len(d.entries)
	}
	out := d.entries[:n]
	d.entries = d.entries[n:]
	return out, nil
}

// Difference is how the files of a library differ from an earlier state.
type Difference struct{ Changed, Added, Gone []string }

// Compare returns the changes from old to now.
func Compare(old, now *Locked) Difference {
	var d Difference
	for _, f := range old.Files {
		switch sum, ok := now.Sum(f.Name); {
		case !ok:
			d.Gone = append(d.Gone, f.Name)
		case sum != f.Sum:
			d.Changed = append(d.Changed, f.Name)
		}
	}
	for _, f := range now.Files {
		if _, ok := old.Sum(f.Name); !ok {
			d.Added = append(d.Added, f.Name)
		}
	}
	return d
}

// IsEmpty reports whether there are no differences.
func (d Difference) IsEmpty() bool { return len(d.Changed)+len(d.Added)+len(d.Gone) == 0 }

// String lists the files, at most five by name.
func (d Difference) String() string {
	const few = 5
	names := slices.Clone(d.Changed)
	for _, name := range d.Gone {
		names = append(names, name+" (gone)")
	}
	for _, name := range d.Added {
		names = append(names, name+" (new)")
	}
	if len(names) > few {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:few], ", "), len(names)-few)
	}
	return strings.Join(names, ", ")
}
