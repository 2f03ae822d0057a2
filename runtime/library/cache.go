package library

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/safefile"
)

// Cache stores file contents by their SHA-256, for all projects of a home:
//
//	files/ab/cdef…  a content, named by its sum
//	tmp/            files that are being written or fetched
//	locks/          one file for each project that a command changes
//
// A content gets its name when it is complete, so several processes may write concurrently,
// and a killed process does no harm. Contents may be deleted at any time: missing ones are
// fetched again.
type Cache struct{ Dir string }

// staleAfter is the age at which files that a killed process left in tmp are removed.
const staleAfter = 24 * time.Hour

func (c *Cache) path(sum Sum) string {
	text := sum.String()
	return filepath.Join(c.Dir, "files", text[:2], text[2:])
}

// errDamaged means that a content does not match its name.
var errDamaged = errors.New("its copy in the cache was changed")

// Get returns the content with a sum. Errors: fs.ErrNotExist if the cache does not have it,
// errDamaged.
func (c *Cache) Get(sum Sum) ([]byte, error) {
	data, err := safefile.ReadFile(c.path(sum), MaxFile)
	if err != nil && !errors.Is(err, safefile.ErrNotRegular) &&
		!errors.Is(err, safefile.ErrTooLarge) {
		return nil, err
	}
	if err != nil || SumOf(data) != sum {
		return nil, errDamaged
	}
	return data, nil
}

// Put stores a content and returns its sum. It does not sync: after a power cut a content may
// be damaged, which Get detects and the next Put repairs.
func (c *Cache) Put(data []byte) (Sum, error) {
	sum := SumOf(data)
	path := c.path(sum)
	if old, err := safefile.ReadFile(path, MaxFile); err == nil && bytes.Equal(old, data) {
		return sum, nil
	}
	tmp, err := c.tmp()
	if err != nil {
		return sum, err
	}
	if err := c.folder("files", filepath.Base(filepath.Dir(path))); err != nil {
		return sum, err
	}
	f, err := os.CreateTemp(tmp, "file-")
	if err != nil {
		return sum, fmt.Errorf("write the cache of libraries: %w", err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = replace(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return sum, fmt.Errorf("write the cache of libraries: %w", err)
	}
	return sum, nil
}

// replace renames a file. It removes a folder with the target's name.
func replace(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

// folder creates a folder of the cache. It removes files that block the path.
func (c *Cache) folder(parts ...string) error {
	dir := c.Dir
	for _, part := range parts {
		dir = filepath.Join(dir, part)
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			os.Remove(dir)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the cache of libraries: %w", err)
	}
	return nil
}

// tmp returns the folder for incomplete files and creates it if necessary.
func (c *Cache) tmp() (string, error) {
	return filepath.Join(c.Dir, "tmp"), c.folder("tmp")
}

// TempDir creates an empty folder for one fetch; remove deletes it. It also deletes folders
// that killed processes left long ago.
func (c *Cache) TempDir() (dir string, remove func(), err error) {
	tmp, err := c.tmp()
	if err != nil {
		return "", nil, err
	}
	c.sweep(tmp)
	dir, err = os.MkdirTemp(tmp, "fetch-")
	if err != nil {
		return "", nil, fmt.Errorf("create the cache of libraries: %w", err)
	}
	return dir, func() { os.RemoveAll(dir) }, nil
}

func (c *Cache) sweep(tmp string) {
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			os.RemoveAll(filepath.Join(tmp, e.Name()))
		}
	}
}

func checkRegular(info fs.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return safefile.ErrNotRegular
	case info.Size() > limit:
		return fmt.Errorf("it is %s large, at most %s are allowed",
			sizeText(info.Size()), sizeText(limit))
	}
	return nil
}
