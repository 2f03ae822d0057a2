package docker

import (
	"errors"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/nat"

	"torchx/runtime/agent"
)

// Reasons why this machine cannot reach containers.
var (
	errRemote    = errors.New("this machine cannot reach containers of a remote engine")
	errElsewhere = errors.New("this machine cannot reach containers of this engine (list the port in port_map and use -cfg publish_ports=true)")
)

// addressesOf returns where this machine reaches a port of a container: the container's
// address if its bridge is here, otherwise where the engine publishes the port. There are none
// if the engine is remote: its addresses may belong to another machine here. There is none
// either, without an error, while a container has no address.
func addressesOf(
	engine *client.Client, c container.InspectResponse, port int,
) (found []agent.Address, err error) {
	if !strings.HasPrefix(engine.DaemonHost(), localEngine) {
		return nil, errRemote
	}
	if c.NetworkSettings == nil {
		return nil, nil
	}
	number := strconv.Itoa(port)
	if c.HostConfig != nil && c.HostConfig.NetworkMode.IsHost() && runtime.GOOS == "linux" {
		return []agent.Address{{HostPort: net.JoinHostPort("localhost", number)}}, nil
	}
	elsewhere := false
	for _, n := range c.NetworkSettings.Networks {
		if n == nil {
			continue
		}
		for address, gateway := range map[string]string{n.IPAddress: n.Gateway, n.GlobalIPv6Address: n.IPv6Gateway} {
			if address != "" && runtime.GOOS == "linux" && hasBridge(n.NetworkID, gateway) {
				return []agent.Address{{HostPort: net.JoinHostPort(address, number)}}, nil
			}
			elsewhere = elsewhere || address != ""
		}
	}
	for _, b := range c.NetworkSettings.Ports[nat.Port(number+"/tcp")] {
		found = append(found, agent.Address{HostPort: net.JoinHostPort(b.HostIP, b.HostPort), Proxied: true})
	}
	if len(found) == 0 && elsewhere {
		return nil, errElsewhere
	}
	return found, nil
}

// hasBridge reports whether the bridge of a network is an interface of this machine. An engine
// without root, or in a virtual machine, has its bridges elsewhere: packets to its containers
// would leave this machine, and something there may answer.
func hasBridge(networkID, gateway string) bool {
	interfaces, _ := net.Interfaces()
	return slices.ContainsFunc(interfaces, func(i net.Interface) bool {
		// Docker names a bridge br-ID unless its creator did: others may have the same address.
		if id, ok := strings.CutPrefix(i.Name, "br-"); ok && !strings.HasPrefix(networkID, id) {
			return false
		}
		addresses, _ := i.Addrs()
		return slices.ContainsFunc(addresses, func(a net.Addr) bool { return strings.HasPrefix(a.String(), gateway+"/") })
	})
}
