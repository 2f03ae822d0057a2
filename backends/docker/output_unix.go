//go:build unix

package docker

import (
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"torchx/runtime/agent"
	"torchx/runtime/spec"
)

// outputFor returns the folder of outputs if the engine can mount it, else "".
func outputFor(b agent.Bundle, m *agent.Manifest, at endpoint) string {
	if !at.isLocal() {
		return ""
	}
	return b.OutputDir(m)
}

// addOutput mounts the folder of outputs and sets its variable, unless the role sets it.
func (l *launcher) addOutput(c *Container) {
	if l.output == "" || environment(c.Config.Env, spec.OutputVariable) != "" {
		return
	}
	c.Config.Env = append(c.Config.Env, spec.OutputVariable+"="+spec.OutputMount)
	host := container.HostConfig{}
	if c.HostConfig != nil {
		host = *c.HostConfig // shared with later attempts
	}
	host.Mounts = append(slices.Clone(host.Mounts), mount.Mount{Type: mount.TypeBind, Source: l.output, Target: spec.OutputMount})
	c.HostConfig = &host
}
