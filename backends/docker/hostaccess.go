package docker

import (
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/mount"

	"torchx/backends/hostaccess"
)

// hostAccess returns a warning about containers that take the host, or nothing.
func (r *Request) hostAccess() []string {
	var found hostaccess.Findings
	for i := range r.Containers {
		c := &r.Containers[i]
		role, h := c.Config.Labels[LabelRole], c.HostConfig
		found.AddIf(h.Privileged, role, "privileged")
		found.AddIf(h.NetworkMode.IsHost(), role, "host network")
		found.AddIf(h.PidMode.IsHost(), role, "host pid")
		found.AddIf(h.IpcMode.IsHost(), role, "host ipc")
		found.AddIf(h.UsernsMode.IsHost(), role, "host userns")
		found.AddIf(h.CgroupnsMode.IsHost(), role, "host cgroupns")
		found.AddCapabilities(role, h.CapAdd)
		for _, option := range h.SecurityOpt {
			found.AddIf(strings.HasSuffix(option, "unconfined") || strings.HasSuffix(option, "disable"), role, option)
		}
		for _, m := range h.Mounts {
			switch {
			case m.Type == mount.TypeBind:
				found.AddMount(role, resolved(m.Source), m.ReadOnly)
			case m.VolumeOptions != nil && m.VolumeOptions.DriverConfig != nil:
				if device := m.VolumeOptions.DriverConfig.Options["device"]; filepath.IsAbs(device) {
					found.AddMount(role, resolved(device), m.ReadOnly)
				}
			}
		}
		for _, bind := range h.Binds {
			source, _, _ := strings.Cut(bind, ":")
			if filepath.IsAbs(source) {
				found.AddMount(role, resolved(source), false)
			}
		}
		for _, d := range h.Devices {
			found.AddMount(role, d.PathOnHost, false)
		}
	}
	return found.Warnings()
}

// resolved follows links of this machine, because a cloned folder may contain a link to /.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
