package agent

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"

	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// Ports are picked below the range that Linux, macOS and IANA use for outgoing connections
// (32768 and up), so that no connection takes a port before the replica listens.
const (
	portFirst = 10000
	portLast  = 32767
	portTries = 1000
)

// ports gives every port_map entry of a local app a free port: the same for all replicas
// of a round, a new one when the app or role restarts.
type ports struct {
	picked map[portKey]int
	rounds map[string]int // role → round of its ports
	used   map[int]bool
}

type portKey struct {
	role, name string
}

func newPorts() *ports {
	return &ports{picked: map[portKey]int{}, rounds: map[string]int{}, used: map[int]bool{}}
}

// env returns TORCHX_PORT_<NAME>=port for each port of the replica's role, and
// TORCHX_PORT_<ROLE>_<NAME> for the ports of roles that it depends on.
func (p *ports) env(g *policy.Policy, r *policy.Replica) []string {
	needed := g.Orders[r.Role].DependsOn
	if len(needed)+len(r.Role.PortMap) == 0 {
		return nil
	}
	round := g.PortRound(r.Role)
	if p.rounds[r.Role.Name] != round {
		p.rounds[r.Role.Name] = round
		p.forget(r.Role)
	}
	var env []string
	for _, d := range needed {
		for _, e := range g.App.Role(d.Role).PortMap {
			env = append(env, p.variable(d.Role+"_"+e.Key, portKey{d.Role, e.Key}, e.Value))
		}
	}
	for _, e := range r.Role.PortMap { // last: the role's own ports override
		env = append(env, p.variable(e.Key, portKey{r.Role.Name, e.Key}, e.Value))
	}
	return env
}

func (p *ports) variable(name string, key portKey, fallback int) string {
	return fmt.Sprintf("%s=%d", PortVariable(name), p.port(key, fallback))
}

func (p *ports) forget(role *spec.Role) {
	for _, e := range role.PortMap {
		delete(p.picked, portKey{role.Name, e.Key})
	}
}

// port returns the port of a key and picks one on first use; fallback, the role's own
// number, is used if no port is free.
func (p *ports) port(key portKey, fallback int) int {
	if n, ok := p.picked[key]; ok {
		return n
	}
	n := fallback
	for range portTries {
		c := portFirst + rand.IntN(portLast-portFirst+1)
		if !p.used[c] && portFree(c) {
			n = c
			break
		}
	}
	p.used[n] = true
	p.picked[key] = n
	return n
}

func portFree(n int) bool {
	var c net.ListenConfig
	l, err := c.Listen(context.Background(), "tcp", fmt.Sprintf(":%d", n))
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// PortVariable returns the environment variable with the port of a port_map name.
func PortVariable(name string) string {
	return "TORCHX_PORT_" + strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, strings.ToUpper(name))
}
