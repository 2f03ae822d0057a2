package docker

import (
	"path/filepath"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"torchx/runtime/spec"
)

// addMounts adds a role's mounts to what the container has. The source of a bind
// mount is taken from cwd if it is not absolute.
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
			h.Devices = append(h.Devices, device(m.Src, m.Dst, m.Permissions))
		}
	}
}

func device(src, dst, permissions string) container.DeviceMapping {
	return container.DeviceMapping{PathOnHost: src, PathInContainer: dst, CgroupPermissions: permissions}
}
