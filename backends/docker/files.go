package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"syscall"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"torchx/runtime/spec"
)

// StatFile returns the type of a file in a container.
func (b *Backend) StatFile(
	ctx context.Context, id string, r spec.Replica, name string,
) (fs.FileMode, error) {
	engine, c, full, err := b.fileOf(ctx, id, r, name)
	if err != nil {
		return 0, err
	}
	stat, err := engine.ContainerStatPath(ctx, c, full)
	if err == nil && stat.LinkTarget != "" {
		stat, err = engine.ContainerStatPath(ctx, c, stat.LinkTarget) // the engine returns the end of all links
	}
	if err != nil {
		return 0, copyError(name, err)
	}
	return stat.Mode, nil
}

// ReadFiles writes a file or a folder of a container as a tar archive.
func (b *Backend) ReadFiles(
	ctx context.Context, id string, r spec.Replica, name string, w io.Writer,
) error {
	engine, c, full, err := b.fileOf(ctx, id, r, name)
	if err != nil {
		return err
	}
	if last := path.Base(path.Clean(name)); last == "." || last == ".." {
		full += "/." // the archive has the contents of the folder, whose name the caller does not know
	}
	archive, _, err := engine.CopyFromContainer(ctx, c, full)
	if err != nil {
		return copyError(name, err)
	}
	defer archive.Close()
	_, err = io.Copy(w, archive)
	return err
}

// WriteFiles extracts a tar archive into a folder of a container. Its files belong to root.
func (b *Backend) WriteFiles(
	ctx context.Context, id string, r spec.Replica, dir string, archive io.Reader,
) error {
	engine, c, full, err := b.fileOf(ctx, id, r, dir)
	if err != nil {
		return err
	}
	if _, err := engine.ContainerStatPath(ctx, c, full); err != nil { // Podman would create it
		return copyError(dir, err)
	}
	write := func(r io.Reader) error {
		return engine.CopyToContainer(ctx, c, full, r, container.CopyToContainerOptions{})
	}
	err = write(archive)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		// The engine refused before it had read the archive, and its answer is lost: ask again.
		err = cmp.Or(write(bytes.NewReader(emptyArchive)),
			errors.New("the engine has stopped reading: its disk may be full"))
	}
	if err != nil {
		return copyError(dir, err)
	}
	return nil
}

// emptyArchive is the end of a tar archive.
var emptyArchive = make([]byte, 1024)

// fileOf returns the container of a running replica, and the absolute path of a file in it.
func (b *Backend) fileOf(
	ctx context.Context, id string, r spec.Replica, name string,
) (engine *client.Client, c, full string, err error) {
	engine, target, err := b.runningContainer(ctx, id, r)
	if err != nil {
		return nil, "", "", err
	}
	if path.IsAbs(name) {
		return engine, target.ID, path.Clean(name), nil
	}
	info, err := engine.ContainerInspect(ctx, target.ID)
	if err != nil {
		return nil, "", "", plain(err)
	}
	dir := "/"
	if info.Config != nil {
		dir = path.Join(dir, info.Config.WorkingDir)
	}
	return engine, target.ID, path.Join(dir, name), nil
}

func copyError(name string, err error) error {
	if errdefs.IsNotFound(err) {
		return fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return plain(err)
}
