package docker

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/go-connections/nat"

	"torchx/runtime/spec"
)

const (
	// imageVariable is set to the image of the container, as in TorchX.
	imageVariable = "TORCHX_IMAGE"
	// publishHost hides published ports from the network: services such as a rendezvous
	// often trust every connection.
	publishHost = "127.0.0.1"
)

// deviceFiles are the devices that a resource may request, with the paths of their files
// without the number; as in TorchX (torchx/specs, schedulers/devices.py).
var deviceFiles = map[string]string{
	"vpc.amazonaws.com/efa":       "/dev/infiniband/uverbs",
	"aws.amazon.com/neurondevice": "/dev/neuron",
}

// maxDevices bounds the devices of all containers together, because each is a member of the
// request.
const maxDevices = 100_000

// checkDevices refuses more than maxDevices.
func checkDevices(app *spec.App) error {
	total := 0
	for i := range app.Roles {
		role := &app.Roles[i]
		for _, d := range role.Resource.Devices {
			if deviceFiles[d.Key] == "" {
				continue
			}
			if total += d.Value * role.NumReplicas; total > maxDevices {
				return fmt.Errorf("too many devices: the %d replicas of role %s request %d of %s each, the limit for all replicas is %d",
					role.NumReplicas, role.Name, d.Value, d.Key, maxDevices)
			}
		}
	}
	return nil
}

// setResources sets the limits of a container and adds its devices. Unknown devices are
// reported by ignored.
func setResources(h *container.HostConfig, r spec.Resource) {
	const mib = 1 << 20
	if r.MemMB >= 0 {
		h.Memory = int64(r.MemMB) * mib
		h.ShmSize = h.Memory // data loaders of PyTorch pass batches through /dev/shm
	}
	if r.CPU >= 0 {
		h.NanoCPUs = int64(r.CPU * 1e9)
	}
	if r.GPU > 0 { // any GPUs, with the capabilities that TorchX names
		h.DeviceRequests = append(h.DeviceRequests,
			container.DeviceRequest{Count: r.GPU, Capabilities: [][]string{{"compute", "utility"}}})
	}
	for _, d := range r.Devices {
		file, ok := deviceFiles[d.Key]
		for n := 0; ok && n < d.Value; n++ {
			addDevice(h, file+strconv.Itoa(n), file+strconv.Itoa(n), "rwm")
		}
	}
}

func addDevice(h *container.HostConfig, src, dst, permissions string) {
	h.Devices = append(h.Devices, container.DeviceMapping{PathOnHost: src, PathInContainer: dst, CgroupPermissions: permissions})
}

// addMounts adds a role's mounts. The source of a bind mount is relative to cwd.
func addMounts(h *container.HostConfig, mounts []spec.Mount, cwd string) {
	for _, m := range mounts {
		switch m.Type {
		case spec.MountBind:
			src := m.Src
			if !filepath.IsAbs(src) {
				src = filepath.Join(cwd, src)
			}
			h.Mounts = append(h.Mounts, mount.Mount{Type: mount.TypeBind, Source: src, Target: m.Dst, ReadOnly: m.ReadOnly})
		case spec.MountVolume:
			h.Mounts = append(h.Mounts, mount.Mount{Type: mount.TypeVolume, Source: m.Src, Target: m.Dst, ReadOnly: m.ReadOnly})
		case spec.MountDevice:
			addDevice(h, m.Src, m.Dst, m.Permissions)
		}
	}
}

// ports publishes the ports of replicas. The first container with a port gets the same
// one on the host, the engine chooses a free one for others.
type ports map[int]bool

func (p ports) publish(c *container.Config, h *container.HostConfig, portMap spec.Map[int]) {
	for _, e := range portMap {
		port := nat.Port(strconv.Itoa(e.Value) + "/tcp")
		if _, twice := c.ExposedPorts[port]; twice {
			continue
		}
		host := strconv.Itoa(e.Value)
		if p[e.Value] {
			host = "" // the engine chooses
		}
		p[e.Value] = true
		if c.ExposedPorts == nil {
			c.ExposedPorts, h.PortBindings = nat.PortSet{}, nat.PortMap{}
		}
		c.ExposedPorts[port] = struct{}{}
		h.PortBindings[port] = []nat.PortBinding{{HostIP: publishHost, HostPort: host}}
	}
}

// environment returns the variables of a container: copied ones, those of the options,
// those of the role and those that torchx sets. Later ones override earlier ones.
func (o options) environment(parent []string, role *spec.Role, rank0, image string) []string {
	env := copiedEnv(o.copyEnv, parent)
	for _, k := range slices.Sorted(maps.Keys(o.env)) {
		env.Set(k, o.env[k])
	}
	for _, e := range role.Env {
		env.Set(e.Key, e.Value)
	}
	env.Set(spec.Rank0HostVariable, rank0)
	env.Set(imageVariable, image)
	list := make([]string, len(env))
	for i, e := range env {
		list[i] = e.Key + "=" + e.Value
	}
	return list
}

// copiedEnv returns the variables that match a pattern: in the order of the patterns, and
// for each pattern in the order of the environment.
func copiedEnv(patterns, parent []string) spec.Map[string] {
	env := spec.Map[string]{}
	if parent == nil {
		parent = os.Environ()
	}
	for _, pattern := range patterns {
		for _, e := range parent {
			name, value, _ := strings.Cut(e, "=")
			// Names have no slashes, so path.Match is the matching of the shell.
			if ok, err := path.Match(pattern, name); ok && err == nil && name != "" {
				env.Set(name, value)
			}
		}
	}
	return env
}
