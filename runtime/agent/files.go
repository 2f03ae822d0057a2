package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"torchx/runtime/safefile"
)

// maxFile bounds each file of a bundle in bytes: 100,000 replicas have some 100 MB.
const maxFile = 512 << 20

// makePrivate makes a folder and its parents with mode 0700 regardless of the umask.
func makePrivate(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}

// WriteJSON replaces a file atomically. With sync the new content survives a power cut.
func WriteJSON(path string, v any, sync bool) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err == nil && sync {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if sync {
		return syncDir(filepath.Dir(path))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func readJSON(path string, v any) error {
	data, err := safefile.ReadFile(path, maxFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// readLines decodes a JSON-lines file. It ignores a last line cut short by a crash; a
// missing file is empty.
func readLines[T any](path string) ([]T, error) {
	data, err := safefile.ReadFile(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []T
	for line := range strings.Lines(string(data)) {
		var v T
		if !strings.HasSuffix(line, "\n") || json.Unmarshal([]byte(line), &v) != nil {
			continue
		}
		all = append(all, v)
	}
	return all, nil
}

// isNoSpace reports whether the disk or the quota is full.
func isNoSpace(err error) bool { return isErrno(err, syscall.ENOSPC, syscall.EDQUOT) }

// cannotWrite reports whether a folder is read-only or the disk is full.
func cannotWrite(err error) bool {
	return isNoSpace(err) || isErrno(err, syscall.EROFS, syscall.EACCES, syscall.EPERM)
}

func isErrno(err error, causes ...syscall.Errno) bool {
	return slices.ContainsFunc(causes, func(c syscall.Errno) bool { return errors.Is(err, c) })
}
