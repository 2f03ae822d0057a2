package image

import (
	"context"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/image"

	"torchx/runtime/backend"
)

// Remote is the name of a built image in a repository: repo with the built
// image's tag. Errors: repo is no name of a repository.
func Remote(repo, built string) (string, error) {
	_, tag, _ := strings.Cut(built, ":")
	remote := strings.TrimSuffix(repo, "/") + ":" + tag
	if _, err := parse(remote); err != nil {
		return "", fmt.Errorf("image_repo=%s is not the name of a repository: it is HOST/NAME, without a tag", repo)
	}
	return remote, nil
}

// Push tags a local image with its remote name and pushes it with the
// credentials of the user's Docker config. Layers that are there are not sent again.
func Push(ctx context.Context, e Engine, local, remote string, tell backend.Progress) (err error) {
	parsed, err := parse(remote)
	if err != nil {
		return err
	}
	if err := e.ImageTag(ctx, local, remote); err != nil {
		return fmt.Errorf("tag image %s as %s: %w", local, remote, err)
	}
	step := "push " + remote
	defer func() { tell.Tell(backend.Step{Name: step, Ended: true, Failed: err != nil}) }()
	auth := parsed.auth()
	if auth == "" {
		auth = noAuth
	}
	body, err := e.ImagePush(ctx, remote, image.PushOptions{RegistryAuth: auth})
	if err != nil {
		return fmt.Errorf("push image %s: %w", remote, err)
	}
	defer body.Close()
	if err := each(body, newLayers(step, "Pushing", tell).see); err != nil {
		return fmt.Errorf("push image %s: %w (credentials are those of `docker login %s`)", remote, err, parsed.host)
	}
	return nil
}

// noAuth is `{}` in base64: engines refuse a push without the header.
const noAuth = "e30="
