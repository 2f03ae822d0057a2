package docker

import (
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-units"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"torchx/runtime/backend"
)

// hostGateway stands for the address of the engine's machine in extra_hosts.
const hostGateway = "host-gateway"

// containerOptions are the -cfg values that become settings of containers, named as in compose
// files.
type containerOptions struct {
	platform string // "": that of the engine
	ulimits  []*container.Ulimit
	dns      []string // addresses
	hosts    []string // "NAME:ADDRESS", sorted
}

// read sets the options. Errors: ErrInvalidOption.
func (o *containerOptions) read(cfg backend.Config) error {
	set(&o.platform, cfg["platform"])
	if o.platform != "" && parsePlatform(o.platform) == nil {
		return backend.Errorf(backend.ErrInvalidOption, "platform=%s: want OS/ARCHITECTURE such as linux/amd64", o.platform)
	}
	var limits, hosts map[string]string
	set(&limits, cfg["ulimits"])
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		limit, err := units.ParseUlimit(name + "=" + limits[name])
		if err != nil {
			return backend.Errorf(backend.ErrInvalidOption, "ulimits=%s:%s: %w (want NAME:SOFT:HARD such as nofile:1024:65536, or NAME:BOTH)", name, limits[name], err)
		}
		o.ulimits = append(o.ulimits, limit)
	}
	set(&o.dns, cfg["dns"])
	for _, address := range o.dns {
		if net.ParseIP(address) == nil {
			return backend.Errorf(backend.ErrInvalidOption, "dns: %q is not an IP address", address)
		}
	}
	set(&hosts, cfg["extra_hosts"])
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		if address := hosts[name]; address != hostGateway && net.ParseIP(address) == nil {
			return backend.Errorf(backend.ErrInvalidOption, "extra_hosts: the address %q of %s is neither an IP address nor %s", address, name, hostGateway)
		}
		o.hosts = append(o.hosts, name+":"+hosts[name])
	}
	return nil
}

// apply sets a planned container.
func (o *containerOptions) apply(c *Container) {
	c.Platform = o.platform
	c.HostConfig.Ulimits, c.HostConfig.DNS, c.HostConfig.ExtraHosts = o.ulimits, o.dns, o.hosts
}

// parsePlatform returns the platform OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT, nil if it has
// another form, such as "".
func parsePlatform(text string) *ocispec.Platform {
	parts := strings.Split(text, "/")
	if len(parts) < 2 || len(parts) > 3 || slices.Contains(parts, "") {
		return nil
	}
	return &ocispec.Platform{OS: parts[0], Architecture: parts[1], Variant: strings.Join(parts[2:], "")}
}
