package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"torchx/runtime/spec"
)

// commentMark begins the comment of a job of torchx; the folder of the app follows. Other login
// nodes, and other homes, find the app by it.
const commentMark = "torchx "

// Comment returns the comment of the app's job.
func (f Folder) Comment() string { return commentMark + string(f) }

// ParseComment returns the folder that the comment of a job names; ok is false if it names none.
func ParseComment(comment string) (f Folder, ok bool) {
	dir, ok := strings.CutPrefix(comment, commentMark)
	return Folder(dir), ok && filepath.IsAbs(dir)
}

// IsIn reports whether the folder is directly below dir.
func (f Folder) IsIn(dir string) bool { return filepath.Dir(string(f)) == filepath.Clean(dir) }

// Deleted reports whether the folder was removed: the folder above it is on this machine.
func (f Folder) Deleted() bool {
	_, err := os.Lstat(string(f))
	_, above := os.Stat(filepath.Dir(string(f)))
	return errors.Is(err, fs.ErrNotExist) && above == nil
}

// List returns the folders of apps below dir, which need not exist.
func List(dir string) (all []Folder, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if f := Folder(filepath.Join(dir, e.Name())); e.IsDir() &&
			e.Name()[0] != '.' && f.Exists() {
			all = append(all, f)
		}
	}
	return all, nil
}

// ErrorPath returns the path of the error file of an attempt.
func (f Folder) ErrorPath(r spec.Replica, attempt int) string {
	return filepath.Join(f.Attempt(r, attempt), ErrorFile)
}

// Changed returns when the launcher recorded something of the whole app last; zero: never.
func (f Folder) Changed() time.Time {
	info, err := os.Stat(f.Path(EventsFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
