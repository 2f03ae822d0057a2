// Package image brings images to a Docker Engine: it pulls what is missing,
// builds workspaces and pushes them. Nothing is printed; backends.Progress is
// told what happens.
package image

import (
	"context"
	"fmt"
	"io"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/client"
)

// Engine is what this package needs of github.com/docker/docker/client.Client.
type Engine interface {
	DaemonHost() string
	Info(ctx context.Context) (system.Info, error)
	ImageInspect(ctx context.Context, ref string, o ...client.ImageInspectOption) (image.InspectResponse, error)
	ImagePull(ctx context.Context, ref string, o image.PullOptions) (io.ReadCloser, error)
	ImageBuild(ctx context.Context, tar io.Reader, o build.ImageBuildOptions) (build.ImageBuildResponse, error)
	ImageTag(ctx context.Context, source, target string) error
	ImagePush(ctx context.Context, ref string, o image.PushOptions) (io.ReadCloser, error)
	ImageRemove(ctx context.Context, ref string, o image.RemoveOptions) ([]image.DeleteResponse, error)
}

var _ Engine = (*client.Client)(nil)

// Has reports whether the engine has an image, by name or id.
func Has(ctx context.Context, e Engine, ref string) (bool, error) {
	_, err := e.ImageInspect(ctx, ref)
	switch {
	case err == nil:
		return true, nil
	case errdefs.IsNotFound(err):
		return false, nil
	}
	return false, fmt.Errorf("look for image %s: %w", ref, err)
}
