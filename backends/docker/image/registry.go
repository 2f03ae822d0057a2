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
	// hubHost is where the engine pulls images of Docker Hub from.
	hubHost = "registry-1.docker.io"
	// noAuth is `{}` in base64: engines refuse a push without the header.
	noAuth = "e30="
	// lookupTime bounds the lookup of a registry's name beside a pull. Engines try far
	// longer, mostly in silence.
	lookupTime = 4 * time.Second
)

// reference is the name of an image in its registry.
type reference struct {
	host     string // host[:port] that is contacted
	registry authn.Resource
}

func parse(ref string) (reference, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return reference{}, fmt.Errorf("%q is not the name of an image: it is [HOST/]NAME[:TAG], such as alpine:3.20", ref)
	}
	r := reference{parsed.Context().RegistryStr(), parsed.Context().Registry}
	if r.host == name.DefaultRegistry {
		r.host = hubHost
	}
	return r, nil
}

// auth returns the credentials as the engine takes them; "" if there are none.
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

// credentials returns what the user's Docker config (`docker login`, credential
// helpers) has for the registry. As with docker itself, a config that cannot be read
// is ignored: most images need no login.
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

// Push tags a local image with its remote name and pushes it with the credentials of
// the user's Docker config. Layers that are there are not sent again.
func Push(ctx context.Context, e Engine, local, remote string, progress backend.Progress) (err error) {
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
		return fmt.Errorf("push image %s: %w (credentials are those of `docker login %s`)", remote, err, parsed.host)
	}
	return nil
}

var errUnreachable = errors.New("offline")

// watchRegistry cancels a pull that cannot succeed: the registry's name is not known
// here and nothing has come from it. It looks only where the engine resolves names as
// this machine does: not for an engine elsewhere, behind a proxy or with mirrors.
func watchRegistry(ctx context.Context, e Engine, host string, answered <-chan struct{}, cancel context.CancelCauseFunc) {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	if net.ParseIP(name) != nil || name == "localhost" || !sameNetwork(ctx, e) {
		return
	}
	ctx, stop := context.WithTimeout(ctx, lookupTime)
	defer stop()
	if _, err := net.DefaultResolver.LookupHost(ctx, name); err == nil {
		return
	}
	select {
	case <-answered:
	default:
		cancel(fmt.Errorf("%w: %s has no address here", errUnreachable, name))
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

// unreachable recognizes an engine without a network: the failure comes as text.
func unreachable(err error) bool {
	return slices.ContainsFunc([]string{
		"no such host", "name resolution", "network is unreachable", "no route to host",
		"i/o timeout", "connection refused", "Client.Timeout exceeded", "server misbehaving",
	}, func(words string) bool { return strings.Contains(err.Error(), words) })
}
