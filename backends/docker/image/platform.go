package image

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
)

// OnPlatform returns an engine that pulls and builds images of a platform, such as linux/amd64 or
// linux/arm/v7, and does not have those of others.
func OnPlatform(e Engine, platform string) Engine { return platformEngine{e, platform} }

type platformEngine struct {
	Engine
	platform string
}

// ImageInspect implements Engine.
func (p platformEngine) ImageInspect(ctx context.Context, ref string, o ...client.ImageInspectOption) (image.InspectResponse, error) {
	found, err := p.Engine.ImageInspect(ctx, ref, o...)
	if err != nil {
		return found, err
	}
	has := found.Os + "/" + found.Architecture
	if strings.Count(p.platform, "/") > 1 && found.Variant != "" {
		has += "/" + found.Variant
	}
	if has != p.platform && !strings.HasPrefix(p.platform, has+"/") {
		return found, fmt.Errorf("image %s is of %s: %w", ref, has, errdefs.ErrNotFound)
	}
	return found, nil
}

// ImagePull implements Engine.
func (p platformEngine) ImagePull(ctx context.Context, ref string, o image.PullOptions) (io.ReadCloser, error) {
	o.Platform = p.platform
	return p.Engine.ImagePull(ctx, ref, o)
}

// ImageBuild implements Engine.
func (p platformEngine) ImageBuild(ctx context.Context, tar io.Reader, o build.ImageBuildOptions) (build.ImageBuildResponse, error) {
	o.Platform = p.platform
	return p.Engine.ImageBuild(ctx, tar, o)
}
