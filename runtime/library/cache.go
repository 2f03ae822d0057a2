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

// Cache holds contents of files by their SHA-256, for all projects of a home:
//
//	files/ab/cdef…  a content, by the digits of its sum
//	tmp/            what is being written or fetched
//	locks/          one file for each project that a command changes
//
// A content appears under its name when it is complete, so several processes may
// write at once and a killed one leaves nothing wrong. It may be deleted at any
// time: what is missing is fetched again.
type Cache struct{ Dir string }

// staleAfter is the age at which what a killed process left in tmp goes.
const staleAfter = 24 * time.Hour

func (c *Cache) path(sum Sum) string {
	text := sum.String()
	return filepath.Join(c.Dir, "files", text[:2], text[2:])
}

// errDamaged says that a content is not what its name says.
var errDamaged = errors.New("its copy in the cache was changed")

// Get returns the content with that sum. Errors: fs.ErrNotExist if the cache has
// none, and one that says so if it was damaged.
func (c *Cache) Get(sum Sum) ([]byte, error) {
	data, err := safefile.ReadFile(c.path(sum), MaxFile)
	if err != nil && !errors.Is(err, safefile.ErrNotRegular) && !errors.Is(err, safefile.ErrTooLarge) {
		return nil, err
	}
	if err != nil || SumOf(data) != sum {
		return nil, errDamaged
	}
	return data, nil
}

// Put stores a content and returns its sum. It is not synced: after a power cut a
// content may be damaged, which Get notices and the next Put repairs.
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

// replace renames a file. A folder in its place, which holds no content, is removed.
func replace(from, to string) error {
	if info, err := os.Lstat(to); err == nil && info.IsDir() {
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	return os.Rename(from, to)
}

// folder makes a folder of the cache. Files in the place of folders are removed.
func (c *Cache) folder(parts ...string) error {
	dir := c.Dir
	for _, part := range parts {
		dir = filepath.Join(dir, part)
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			os.Remove(dir)
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the cache of libraries: %w", err)
	}
	return nil
}

// tmp is the folder for what is not complete; it is made if it is missing.
func (c *Cache) tmp() (string, error) {
	return filepath.Join(c.Dir, "tmp"), c.folder("tmp")
}

// Scratch makes an empty folder for one fetch, which drop removes. It takes what
// killed processes left a day ago with it.
func (c *Cache) Scratch() (dir string, drop func(), err error) {
	tmp, err := c.tmp()
	if err != nil {
		return "", nil, err
	}
	c.sweep(tmp)
	dir, err = os.MkdirTemp(tmp, "fetch-")
	if err != nil {
		return "", nil, fmt.Errorf("make the cache of libraries: %w", err)
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
		return fmt.Errorf("it is %s large, %s are allowed", sizeText(info.Size()), sizeText(limit))
	}
	return nil
}
