package safefile

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
)

// OwnerError means that a file belongs to another user.
type OwnerError struct {
	Path       string
	Owner, Own string // "alice (uid 1000)"
	Name       string // of the owner, as an argument of sudo -u
}

func (e *OwnerError) Error() string {
	return fmt.Sprintf("%s belongs to %s, and torchx runs as %s", e.Path, e.Owner, e.Own)
}

// CheckOwner returns an *OwnerError if a file or folder belongs to another user: its records could
// make torchx kill any process. Files of root are accepted, such as a container's volume. It
// follows links; a missing file is fine.
func CheckOwner(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return nil //nolint:nilerr // opening it returns the reason
	}
	return checkOwner(path, info)
}

// CheckFolder is CheckOwner for a folder of a home, which must not be a link.
func CheckFolder(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil //nolint:nilerr // as in CheckOwner
	}
	if !info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: &cause{ErrNotRegular, "is " + kind(info.Mode()) + ", want a folder (remove it)"}}
	}
	return checkOwner(path, info)
}

func checkOwner(path string, info fs.FileInfo) error {
	uid, own := ownerOf(info), os.Geteuid()
	if uid <= 0 || uid == own {
		return nil
	}
	e := &OwnerError{Path: path}
	e.Owner, e.Name = describeUser(uid)
	e.Own, _ = describeUser(own)
	return e
}

func describeUser(uid int) (text, name string) {
	id := strconv.Itoa(uid)
	u, err := user.LookupId(id)
	if err != nil {
		return "uid " + id, "'#" + id + "'"
	}
	return fmt.Sprintf("%s (uid %s)", u.Username, id), u.Username
}
