package image

import (
	"fmt"

	"github.com/docker/docker/api/types/registry"
	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
)

// hubHost is where the engine pulls images of Docker Hub from.
const hubHost = "registry-1.docker.io"

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

// auth is what the user's Docker config (`docker login`, credential helpers) has
// for the registry, as the engine takes it; "" if it has nothing. As with docker
// itself, a config that cannot be read is none: most images need no login.
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
