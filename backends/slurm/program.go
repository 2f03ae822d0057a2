package slurm

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// programName returns a path for the content of a program, by its size and time. ok is false if
// it cannot be read.
func programName(exe string) (path string, ok bool) {
	info, err := os.Stat(exe)
	if err != nil {
		return "", false
	}
	return filepath.Join(fmt.Sprintf("%x-%x", info.Size(), info.ModTime().UnixNano()), "torchx"), true
}

// installProgram creates the copy of a program unless it exists, as a hard link if possible.
func installProgram(exe, path string) error {
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		exe = real
	}
	if err := os.Link(exe, path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return copyProgram(exe, path)
}

// copyProgram copies a program under a temporary name: a copy that was interrupted is never run.
func copyProgram(exe, path string) (err error) {
	in, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), ".torchx-")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(0o700), out.Close())
	if err != nil {
		return err
	}
	return os.Rename(out.Name(), path)
}
