package docker

import (
	"fmt"
	"strconv"
	"strings"

	"torchx/runtime/spec"
)

// Labels of an app's containers, as in TorchX.
const (
	LabelVersion = "torchx.pytorch.org/version"
	LabelAppID   = "torchx.pytorch.org/app-id"
	LabelRole    = "torchx.pytorch.org/role-name"
	LabelReplica = "torchx.pytorch.org/replica-id" // from 0, decimal
)

// Name is the backend's canonical name.
const Name = "docker"

// networkName is the bridge on which containers reach each other by name, as in TorchX.
const networkName = "torchx"

const (
	nameParts = 30 // maximum bytes of app ID and role in a name, as in TorchX
	maxHost   = 63 // bytes of a DNS label (RFC 1035); Linux allows 64 for a host
)

// names holds the names of an app's containers, which are also their hostnames.
type names struct {
	id    string
	roles map[string]string // role to its part of names
}

// newNames shortens roles as TorchX does. It appends the index to roles that would then
// be equal.
func newNames(id string, app *spec.App) names {
	n := names{id, map[string]string{}}
	taken := map[string]bool{}
	for i := range app.Roles {
		role := app.Roles[i].Name
		part := valid(role[:min(len(role), nameParts)])
		for extra := i; taken[part]; extra++ {
			suffix := "-" + strconv.Itoa(extra)
			part = part[:min(len(part), nameParts-len(suffix))] + suffix
		}
		taken[part] = true
		n.roles[role] = part
	}
	return n
}

// replica returns `<last 30 of app ID>-<first 30 of role>-<replica>` without leading
// characters that Docker refuses. A name that is too long for a host is cut at the front,
// because the random part of the ID is at its end.
func (n names) replica(role string, replica int) string {
	id := valid(n.id)
	id = id[max(0, len(id)-nameParts):]
	name := fmt.Sprintf("%s-%s-%d", id, n.roles[role], replica)
	return strings.TrimLeft(name[max(0, len(name)-maxHost):], "-_.")
}

// rank0 returns the host of replica 0 of the first role.
func (n names) rank0(app *spec.App) string { return n.replica(app.Roles[0].Name, 0) }

// valid replaces characters that are not allowed in the name of a container: Docker
// accepts [a-zA-Z0-9][a-zA-Z0-9_.-]*.
func valid(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.':
		default:
			b[i] = '-'
		}
	}
	return string(b)
}

// handleOf returns the handle of an app of this backend.
func handleOf(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}
