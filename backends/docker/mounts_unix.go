//go:build unix

package docker

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"torchx/runtime/agent"
	"torchx/runtime/safefile"
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
	c.bind(l.output, spec.OutputMount)
}

// bind mounts a file or folder of this machine.
func (c *Container) bind(source, target string) {
	host := container.HostConfig{}
	if c.HostConfig != nil {
		host = *c.HostConfig // shared with later attempts
	}
	m := mount.Mount{Type: mount.TypeBind, Source: source, Target: target}
	host.Mounts = append(slices.Clone(host.Mounts), m)
	c.HostConfig = &host
}

var _ agent.LogDirs = (*launcher)(nil)

// LogDir implements agent.LogDirs.
func (l *launcher) LogDir(r spec.Replica, attempt int) string { return l.layout.ReplicaDir(r, attempt) }

// addMetrics mounts the file for the metrics of an attempt and sets its variable, unless the role
// sets it. Metrics are never a reason not to start.
func (l *launcher) addMetrics(c *Container, s agent.Start) {
	if environment(c.Config.Env, spec.MetricsVariable) != "" {
		return
	}
	if l.inLog {
		c.Config.Env = append(c.Config.Env, spec.MetricsVariable+"="+spec.MetricsInLog)
		return
	}
	path := filepath.Join(l.LogDir(s.Replica, s.Attempt), spec.MetricsFile)
	if err := createShared(path); err != nil {
		l.log.Printf("metrics of %s/%d are not recorded: %v", s.Replica.Role, s.Replica.ID, err)
		return
	}
	c.Config.Env = append(c.Config.Env, spec.MetricsVariable+"="+spec.MetricsMount)
	c.bind(path, spec.MetricsMount)
}

// createShared creates a file that the user of a container, who may be any, can write to. Only
// that container sees it: the folders above belong to this user.
func createShared(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := safefile.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Chmod(0o666)
}
