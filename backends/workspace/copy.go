package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/safefile"
)

// ScanCopy is Scan for a copy of the projects in a folder: it needs no Dockerfile, and
// .torchxignore replaces .dockerignore where it exists.
func ScanCopy(projects []Project) (*Tree, error) {
	return scan(&Tree{Projects: projects, isCopy: true})
}

// Hash returns a name for the content: that of every file's path, mode, link target and
// content. It reads all files.
func (t *Tree) Hash(ctx context.Context) (string, error) {
	sum := sha256.New()
	for _, e := range t.entries {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%q %v %q %d\n", e.path, e.mode, e.link, e.size)
		if !e.mode.IsRegular() {
			continue
		}
		if err := e.copyTo(sum); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:hashLength], nil
}

// CopyTo writes the files below dir, which must be empty. Errors: one line with the path.
func (t *Tree) CopyTo(ctx context.Context, dir string) error {
	for _, e := range t.entries {
		err := ctx.Err()
		if err == nil {
			err = e.create(filepath.Join(dir, filepath.FromSlash(e.path)))
		}
		if err != nil {
			return fmt.Errorf("copy workspace: %w", err)
		}
	}
	return nil
}

func (e entry) create(path string) (err error) {
	switch {
	case e.mode.IsDir():
		return os.MkdirAll(path, 0o700|e.mode.Perm())
	case e.link != "":
		return os.Symlink(e.link, path)
	}
	f, err := safefile.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := e.copyTo(f); err != nil {
		return err
	}
	return f.Chmod(e.mode.Perm() & fs.ModePerm)
}

// copyTo writes the content of a file, as many bytes as it had when it was found.
func (e entry) copyTo(w io.Writer) error {
	content, err := e.open()
	if err != nil {
		return plain(err)
	}
	defer content.Close()
	if _, err := io.CopyN(w, content, e.size); errors.Is(err, io.EOF) {
		return fmt.Errorf("%s became shorter while it was read: try again", e.source)
	} else if err != nil {
		return plain(err)
	}
	return nil
}
