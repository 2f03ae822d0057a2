package interp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"unicode/utf8"

	"torchx/runtime/humanize"
)

// MaxSource is the size limit of a file in bytes. The parser cannot be stopped, and needs 100 times
// the size in memory.
const MaxSource = 1 << 20

// openNonblock prevents that opening a pipe without a writer blocks.
const openNonblock = syscall.O_NONBLOCK

// Read returns the content of the file: UTF-8 of at most MaxSource bytes from a regular file inside
// its root. It never blocks.
func (s *Source) Read() ([]byte, error) {
	data, err := s.readRaw()
	if err != nil {
		return nil, readError(s, err)
	}
	return data, checkText(data)
}

// readRaw first checks for a regular file: opening or reading a pipe without a writer would block.
func (s *Source) readRaw() ([]byte, error) {
	if s.tree.dir != "" {
		return readInRoot(s.tree.dir, s.name)
	}
	info, err := fs.Stat(s.tree.fsys, s.name)
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	f, err := s.tree.fsys.Open(s.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f)
}

func readInRoot(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readOpen(f)
}

func readOpen(f fs.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if err := checkRegular(info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSource+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxSource {
		return nil, tooLarge(max(info.Size(), int64(len(data))))
	}
	return data, nil
}

// A sourceError is about the content or kind of a file.
type sourceError string

func (e sourceError) Error() string { return string(e) }

func tooLarge(n int64) error {
	return sourceError(fmt.Sprintf("is %s large, over the limit of %s for a Starlark file; split it", humanize.RoundBytes(uint64(n)), humanize.RoundBytes(MaxSource)))
}

func checkRegular(info fs.FileInfo) error {
	mode := info.Mode()
	what := "not a regular file"
	switch {
	case mode.IsRegular() && info.Size() > MaxSource:
		return tooLarge(info.Size())
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		return sourceError("is a folder; name a .star file in it")
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	return sourceError("is " + what + "; only regular files are read")
}

func checkText(data []byte) error {
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return sourceError(fmt.Sprintf("is not text (a NUL byte at offset %d); name a Starlark file", at))
	}
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		if r == utf8.RuneError && n == 1 {
			return sourceError(fmt.Sprintf("is not UTF-8 text (byte 0x%02x at offset %d); save it as UTF-8", data[at], at))
		}
		at += n
	}
	return nil
}

// readError rewords err for the user and wraps it.
func readError(s *Source, err error) error {
	var bad sourceError
	switch {
	case errors.As(err, &bad):
		return bad
	case errors.Is(err, fs.ErrNotExist):
		return rewordedError{"no such file" + s.pathHint() + s.similar(), err}
	case errors.Is(err, fs.ErrPermission):
		return rewordedError{"permission denied" + s.pathHint() + "; make the file and its folders readable", err}
	case strings.Contains(err.Error(), "path escapes"):
		return rewordedError{"is or passes through a symbolic link that leads out of " + s.tree.describe() + " or is absolute; only files inside are read", err}
	case strings.Contains(err.Error(), "not a directory"):
		return rewordedError{"no such file" + s.pathHint() + ": a part of its path is not a folder; check the name", err}
	}
	var perr *fs.PathError
	var code syscall.Errno
	switch {
	case errors.As(err, &code):
		return rewordedError{"cannot be read: " + code.Error(), err}
	case errors.As(err, &perr): // of a library, which explains itself
		return rewordedError{perr.Err.Error(), err}
	}
	return err
}

// similar returns a suggestion for a file that does not exist.
func (s *Source) similar() string {
	entries, err := readFolder(s.tree, path.Dir(s.name))
	if err != nil {
		return "; check the name"
	}
	var stems []string // without the suffix, which would make all names similar
	for _, e := range entries[:min(len(entries), maxSimilar)] {
		if stem, ok := strings.CutSuffix(e.Name(), ".star"); ok {
			stems = append(stems, stem)
		}
	}
	if stem, ok := humanize.Closest(strings.TrimSuffix(path.Base(s.name), ".star"), stems); ok {
		return "; did you mean " + stem + ".star?"
	}
	return "; check the name"
}

// maxSimilar bounds the files that a missing file is compared with.
const maxSimilar = 1000

// pathHint returns the path in parentheses if messages do not start with it.
func (s *Source) pathHint() string {
	if p := s.Path(); p != "" && p != s.Display() {
		return " (" + p + ")"
	}
	return ""
}

type rewordedError struct {
	msg   string
	cause error
}

func (e rewordedError) Error() string { return e.msg }
func (e rewordedError) Unwrap() error { return e.cause }
