package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/safefile"
)

// state is the content of a project's two files.
type state struct {
	project *Project // nil: torchx.libs does not exist
	lock    *Lock    // empty if torchx.lock does not exist
	stamps  [2]stamp
}

// stamp identifies a state of a file, to detect changes.
type stamp struct {
	exists bool
	size   int64
	time   time.Time
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{exists: !errors.Is(err, fs.ErrNotExist)}
	}
	return stamp{true, info.Size(), info.ModTime()}
}

func stamps(root string) [2]stamp {
	return [2]stamp{stampOf(filepath.Join(root, ProjectFile)), stampOf(filepath.Join(root, LockFile))}
}

// readState reads the files of the project at root. Paths in messages are relative to dir.
func readState(root, dir string) (*state, error) {
	s := &state{stamps: stamps(root)}
	path := filepath.Join(root, ProjectFile)
	data, err := readText(path, displayPath(path, dir), maxProject)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if s.project, err = ParseProject(displayPath(path, dir), data); err != nil {
			return nil, err
		}
	}
	s.lock, err = ReadLock(root, dir)
	return s, err
}

// ReadLock reads torchx.lock of the project at root; it is empty if there is none. Errors name the
// file relative to dir, unless dir is "".
func ReadLock(root, dir string) (*Lock, error) {
	path := filepath.Join(root, LockFile)
	data, err := readText(path, displayPath(path, dir), maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return &Lock{}, nil
	}
	if err != nil {
		return nil, err
	}
	return ParseLock(displayPath(path, dir), data)
}

// readText reads a file of a project; the error is fs.ErrNotExist if it is missing.
func readText(path, name string, limit int64) ([]byte, error) {
	data, err := safefile.ReadInput(path, limit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s cannot be read: %w", name, pathCause(err))
	}
	return data, err
}

// pathCause removes the path from an error whose message already has it.
func pathCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// displayPath returns path as shown in messages: relative to dir if it is below dir.
func displayPath(path, dir string) string {
	rel, err := filepath.Rel(dir, path)
	if err != nil || dir == "" || rel == ".." ||
		strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return path
	}
	return rel
}

// folderOf returns the absolute path of a folder in a line of the project at root.
func folderOf(root, folder string) string {
	if filepath.IsAbs(folder) {
		return filepath.Clean(folder)
	}
	return filepath.Join(root, filepath.FromSlash(folder))
}

// writeFile replaces a file of a project atomically and keeps the mode of an old file. It
// replaces a link, which may point out of the project.
func writeFile(path string, data []byte) error {
	mode := fs.FileMode(0o666)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := newFile(path, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, pathCause(err))
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, pathCause(err))
	}
	return nil
}

// newFile creates a unique file beside path, with the mode that the user's umask allows:
// os.CreateTemp would make it inaccessible to others.
func newFile(path string, mode fs.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s.%d-%d.tmp", path, os.Getpid(), n)
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) || n > 1000 {
			return f, err
		}
	}
}
