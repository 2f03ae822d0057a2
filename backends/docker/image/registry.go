package image

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/registry"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"

	"torchx/runtime/backend"
)

const (
	// hubHost is the host from which the engine pulls images of Docker Hub.
	hubHost = "registry-1.docker.io"
	// noAuth is `{}` in base64: engines refuse a push without credentials.
	noAuth = "e30="
	// lookupTimeout bounds the lookup of a registry's name during a pull. Engines try much
	// longer, mostly without output.
	lookupTimeout = 4 * time.Second
)

// reference is the name of an image in its registry.
type reference struct {
	host     string // host[:port] to contact
	registry authn.Resource
}

func parse(ref string) (reference, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return reference{}, fmt.Errorf("%q is not a valid image name: use [HOST/]NAME[:TAG], such as alpine:3.20", ref)
	}
	r := reference{parsed.Context().RegistryStr(), parsed.Context().Registry}
	if r.host == name.DefaultRegistry {
		r.host = hubHost
	}
	return r, nil
}

// auth returns the credentials encoded for the engine; "" if there are none.
func (r reference) auth() string {
	c, ok := r.credentials()
	if !ok {
		return ""
	}
	text, err := registry.EncodeAuthConfig(c)
	if err != nil {
		return ""
	}
	return text
}

// credentials returns the credentials for the registry from the user's Docker config
// (`docker login`, credential helpers). Like docker, it ignores a config that cannot be
// read: most images need no login.
func (r reference) credentials() (registry.AuthConfig, bool) {
	found, err := authn.DefaultKeychain.Resolve(r.registry)
	if err != nil || found == authn.Anonymous {
		return registry.AuthConfig{}, false
	}
	c, err := found.Authorization()
	if err != nil {
		return registry.AuthConfig{}, false
	}
	return registry.AuthConfig{
		Username: c.Username, Password: c.Password, Auth: c.Auth,
		IdentityToken: c.IdentityToken, RegistryToken: c.RegistryToken,
		ServerAddress: r.registry.RegistryStr(),
	}, true
}

// Push tags a local image with its remote name and pushes it with the credentials of the
// user's Docker config. It does not send layers that the registry has.
func Push(
	ctx context.Context, e Engine, local, remote string, progress backend.Progress,
) (err error) {
	parsed, err := parse(remote)
	if err != nil {
		return err
	}
	if err := e.ImageTag(ctx, local, remote); err != nil {
		return fmt.Errorf("tag image %s as %s: %w", local, remote, err)
	}
	step := "push " + remote
	defer func() { progress.Tell(backend.Step{Name: step, Ended: true, Failed: err != nil}) }()
	auth := parsed.auth()
	if auth == "" {
		auth = noAuth
	}
	body, err := e.ImagePush(ctx, remote, image.PushOptions{RegistryAuth: auth})
	if err != nil {
		return fmt.Errorf("push image %s: %w", remote, err)
	}
	defer body.Close()
	if err := readMessages(body, newLayers(step, "Pushing", progress).add); err != nil {
		return fmt.Errorf("push image %s: %w (log in with `docker login %s`)",
			remote, err, parsed.host)
	}
	return nil
}

var errUnreachable = errors.New("offline")

// watchRegistry cancels a pull that cannot succeed: the name of the registry does not
// resolve on this machine and the registry has not answered. It does nothing for an engine
// that resolves names differently: a remote one, or one with a proxy or mirrors.
func watchRegistry(ctx context.Context, e Engine, host string, answered <-chan struct{},
	cancel context.CancelCauseFunc,
) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if net.ParseIP(name) != nil || name == "localhost" || !sameNetwork(ctx, e) {
		return
	}
	ctx, stop := context.WithTimeout(ctx, lookupTimeout)
	defer stop()
	if _, err := net.DefaultResolver.LookupHost(ctx, name); err == nil {
		return
	}
	select {
	case <-answered:
	default:
		cancel(fmt.Errorf("%w: %s does not resolve on this machine", errUnreachable, name))
	}
}

// sameNetwork reports whether the engine reaches registries as this machine does.
func sameNetwork(ctx context.Context, e Engine) bool {
	if !strings.HasPrefix(e.DaemonHost(), "unix://") {
		return false
	}
	info, err := e.Info(ctx)
	return err == nil && info.HTTPProxy == "" && info.HTTPSProxy == "" &&
		(info.RegistryConfig == nil || len(info.RegistryConfig.Mirrors) == 0)
}

// unreachable recognizes the error of an engine without a network, which is only text.
func unreachable(err error) bool {
	return slices.ContainsFunc([]string{
		"no such host", "name resolution", "network is unreachable", "no route to host",
		"i/o timeout", "connection refused", "Client.Timeout exceeded", "server misbehaving",
	}, func(words string) bool { return strings.Contains(err.Error(), words) })
}
