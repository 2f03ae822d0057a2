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

	builds       []build // images that the containers need and this machine can build
	defaultImage string  // the image that nobody chose
}

// Container is the body of one POST /containers/create, and the container's name.
type Container struct {
	Name       string                    `json:"name"`
	Config     *container.Config         `json:"config"`
	HostConfig *container.HostConfig     `json:"host_config"`
	Networking *network.NetworkingConfig `json:"networking_config"`
}

// MarshalJSON leaves out what is not said, of which the types of the API have a
// hundred lines for each container.
func (c Container) MarshalJSON() ([]byte, error) {
	type plain Container
	return compactJSON(plain(c))
}
