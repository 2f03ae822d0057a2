package docker

import (
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
)

// Request is what the engine is asked to run, in the words of its API: one
// container for each replica, in the order of roles and replicas.
type Request struct {
	AppID      string      `json:"app_id"`
	Network    string      `json:"network"` // the bridge that all containers join, made at submit
	Containers []Container `json:"containers"`
}

// Container is the body of one POST /containers/create, and the container's name.
type Container struct {
	Name       string                    `json:"name"`
	Config     *container.Config         `json:"config"`
	HostConfig *container.HostConfig     `json:"host_config"`
	Networking *network.NetworkingConfig `json:"networking_config"`
}
