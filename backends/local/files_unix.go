//go:build unix

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"torchx/runtime/spec"
	"torchx/runtime/tarball"
)

// StatFile returns the type of a file.
func (b *Backend) StatFile(
	ctx context.Context, id string, r spec.Replica, path string,
) (fs.FileMode, error) {
	root, name, err := b.openFile(ctx, id, r, path)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return 0, fileError(path, err)
	}
	return info.Mode(), nil
}

// ReadFiles writes a file or a folder as a tar archive.
func (b *Backend) ReadFiles(
	ctx context.Context, id string, r spec.Replica, path string, w io.Writer,
) error {
	root, name, err := b.openFile(ctx, id, r, path)
	if err != nil {
		return err
	}
	defer root.Close()
	return fileError(path, tarball.Pack(ctx, w, root, name, filepath.Base(name)))
}

// WriteFiles extracts a tar archive into a folder.
func (b *Backend) WriteFiles(
	ctx context.Context, id string, r spec.Replica, dir string, archive io.Reader,
) error {
	parent, name, err := b.openFile(ctx, id, r, dir)
	if err != nil {
		return err
	}
	defer parent.Close()
	root, err := parent.OpenRoot(name)
	if err != nil {
		return fileError(dir, err)
	}
	defer root.Close()
	var first error
	u := tarball.Unpacker{Root: root, Failed: func(name string, err error) {
		if first == nil {
			first = fmt.Errorf("write %s: %w", name, err)
		}
	}}
	if err := u.Unpack(ctx, archive); err != nil {
		return err
	}
	return first
}

// openFile returns a folder from which a path is reached without leaving it. A relative path is
// below the replica's folder, where its program may have planted links; an absolute one was
// chosen by the user.
func (b *Backend) openFile(
	ctx context.Context, id string, r spec.Replica, path string,
) (root *os.Root, name string, err error) {
	dir, name := filepath.Dir(path), filepath.Base(path)
	if !filepath.IsAbs(path) {
		place, err := b.placeOf(ctx, id, r)
		if err != nil {
			return nil, "", err
		}
		dir, name = place.Dir, filepath.Clean(path)
	} else if _, err := b.running(ctx, id, r); err != nil {
		return nil, "", err
	}
	if !filepath.IsLocal(name) && name != "/" {
		return nil, "", fmt.Errorf("%s is outside of the replica's folder %s: write an absolute path", path, dir)
	}
	if name == "/" {
		name = "."
	}
	root, err = os.OpenRoot(dir)
	if err != nil {
		return nil, "", fileError(path, err)
	}
	return root, name, nil
}

// fileError names the path that the user wrote.
func fileError(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
