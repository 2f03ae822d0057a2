//go:build linux

package docker

import (
	"errors"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/nat"

	"torchx/runtime/agent"
)

// TestAddresses: the address of a container counts only where its bridge is. Elsewhere a packet
// to it leaves this machine, and a proxy there may answer.
func TestAddresses(t *testing.T) {
	t.Parallel()
	const here, elsewhere = "127.0.0.1", "203.0.113.1" // gateways; the first one is on the loopback interface
	published := nat.PortMap{"80/tcp": {{HostIP: "127.0.0.1", HostPort: "30080"}}}
	tests := []struct {
		name, host, mode, gateway string
		ports                     nat.PortMap
		want                      []agent.Address
		err                       error
	}{
		{"bridge here", "unix:///x.sock", "torchx", here, published, []agent.Address{{HostPort: "172.18.0.2:80"}}, nil},
		{"bridge elsewhere", "unix:///x.sock", "torchx", elsewhere, published, []agent.Address{{HostPort: "127.0.0.1:30080", Proxied: true}}, nil},
		{"bridge elsewhere, nothing published", "unix:///x.sock", "torchx", elsewhere, nil, nil, errElsewhere},
		{"no gateway", "unix:///x.sock", "torchx", "", nil, nil, errElsewhere},
		{"network of the host", "unix:///x.sock", "host", "", nil, []agent.Address{{HostPort: "localhost:80"}}, nil},
		{"remote engine", "tcp://203.0.113.9:2376", "torchx", here, published, nil, errRemote},
	}
	for _, test := range tests {
		engine, err := client.NewClientWithOpts(client.WithHost(test.host))
		if err != nil {
			t.Fatal(err)
		}
		c := container.InspectResponse{
			ContainerJSONBase: &container.ContainerJSONBase{HostConfig: &container.HostConfig{NetworkMode: container.NetworkMode(test.mode)}},
			NetworkSettings:   &container.NetworkSettings{Networks: map[string]*network.EndpointSettings{"torchx": {NetworkID: "n", IPAddress: "172.18.0.2", Gateway: test.gateway}}},
		}
		c.NetworkSettings.Ports = test.ports
		if got, err := addressesOf(engine, c, 80); !slices.Equal(got, test.want) || !errors.Is(err, test.err) {
			t.Errorf("%s: got %v, %v, want %v, %v", test.name, got, err, test.want, test.err)
		}
	}
}
