package docker

import (
	"strconv"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-connections/nat"

	"torchx/runtime/spec"
)

// publishHost keeps published ports from the network: what listens there, such
// as a rendezvous, often trusts whoever connects.
const publishHost = "127.0.0.1"

// ports publishes the ports of replicas. The first container that has a port gets
// the same one on the host, later ones a free one that the engine chooses.
type ports struct{ taken map[int]bool }

func (p *ports) publish(c *container.Config, h *container.HostConfig, ports spec.Map[int]) {
	for _, e := range ports {
		port := nat.Port(strconv.Itoa(e.Value) + "/tcp")
		if _, twice := c.ExposedPorts[port]; twice {
			continue
		}
		host := strconv.Itoa(e.Value)
		if p.taken[e.Value] {
			host = "" // the engine chooses
		}
		p.taken[e.Value] = true
		if c.ExposedPorts == nil {
			c.ExposedPorts, h.PortBindings = nat.PortSet{}, nat.PortMap{}
		}
		c.ExposedPorts[port] = struct{}{}
		h.PortBindings[port] = []nat.PortBinding{{HostIP: publishHost, HostPort: host}}
	}
}
