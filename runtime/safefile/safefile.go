// Package safefile opens files that another program may have replaced. A named pipe, a device, a
// folder or a link in place of a file is an error instead of a command that hangs, and a file
// that is far too large is not read into memory.
//
// Open, OpenFile, ReadFile and WriteFile are for files of a home and reject symbolic links, since
// torchx creates none there. OpenInput and ReadInput are for users' files, such as a job or a
// component, and follow links. Escape names a folder after any text.
package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Causes of an *fs.PathError, for errors.Is.
var (
	ErrNotRegular = errors.New("not a regular file")
	ErrTooLarge   = errors.New("too large")
)

// cause is one of the errors above with a text.
type cause struct {
	class error
	text  string
}

func (c *cause) Error() string { return c.text }
func (c *cause) Unwrap() error { return c.class }

// Open opens a file of a home for reading.
func Open(path string) (*os.File, error) { return OpenFile(path, os.O_RDONLY, 0) }

// OpenFile opens a file of a home with the flags of os.OpenFile.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return open(path, flag|noFollow, perm, os.Lstat, " (remove it)")
}

// OpenInput opens a user's file for reading.
func OpenInput(path string) (*os.File, error) { return open(path, os.O_RDONLY, 0, os.Stat, "") }

// OpenIn opens a user's file below root for reading. It follows links inside root.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(name, info.Mode(), "")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	return checked(f, name, "")
}

// ReadFile reads a file of a home of at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadInput reads a user's file of at most limit bytes.
func ReadInput(path string, limit int64) ([]byte, error) {
	f, err := OpenInput(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// WriteFile writes a file of a home with mode 0600, in place.
func WriteFile(path string, data []byte) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// open checks the type before it opens the file, since opening a device can have an effect, and
// afterwards, since the file may have been replaced in between.
func open(
	path string, flag int, perm fs.FileMode, stat func(string) (fs.FileInfo, error), remedy string,
) (*os.File, error) {
	if info, err := stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, notRegular(path, info.Mode(), remedy)
	}
	f, err := os.OpenFile(path, flag|nonblock, perm)
	if err != nil {
		return nil, err
	}
	return checked(f, path, remedy)
}

// checked returns an open file if it is a regular one, and closes it otherwise.
func checked(f *os.File, path, remedy string) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notRegular(path, info.Mode(), remedy)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func notRegular(path string, mode fs.FileMode, remedy string) error {
	return &fs.PathError{Op: "open", Path: path, Err: &cause{ErrNotRegular, "is " + kind(mode) + ", want a regular file" + remedy}}
}

func kind(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "a file"
	case fs.ModeDir:
		return "a folder"
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a named pipe"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

// ReadAll reads an open file of at most limit bytes.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	var b bytes.Buffer
	if size <= limit {
		b.Grow(int(size) + bytes.MinRead)
		if _, err := b.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
			return nil, err
		}
		size = int64(b.Len())
	}
	if size > limit {
		text := fmt.Sprintf("is too large: it has %d bytes, the limit is %d", size, limit)
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: &cause{ErrTooLarge, text}}
	}
	return b.Bytes(), nil
}
