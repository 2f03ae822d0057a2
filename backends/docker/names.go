package docker

import (
	"fmt"
	"strconv"
	"strings"

	"torchx/runtime/spec"
)

// Labels by which containers of an app are found; they are those of TorchX.
const (
	LabelVersion = "torchx.pytorch.org/version"
	LabelAppID   = "torchx.pytorch.org/app-id"
	LabelRole    = "torchx.pytorch.org/role-name"
	LabelReplica = "torchx.pytorch.org/replica-id" // from 0, decimal
)

// Name is the backend's canonical name.
const Name = "docker"

// networkName is the bridge on which containers find one another by name, as in TorchX.
const networkName = "torchx"

const (
	nameParts = 30 // bytes that app id and role have in a name, as in TorchX
	maxHost   = 63 // bytes of a DNS label (RFC 1035); Linux takes 64 for a host
)

// names names the containers of an app; a name is the hostname, too.
type names struct {
	id    string
	roles map[string]string // role to its part of the names
}

// newNames shortens roles as TorchX does. Roles that would then share a name
// have their index in it as well.
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

// of is `<last 30 of app id>-<first 30 of role>-<replica>` without leading
// characters that Docker refuses. Of what is longer than a host may be the front
// is cut: the random part of the id is at its end.
func (n names) of(role string, replica int) string {
	id := valid(n.id)
	id = id[max(0, len(id)-nameParts):]
	name := fmt.Sprintf("%s-%s-%d", id, n.roles[role], replica)
	return strings.TrimLeft(name[max(0, len(name)-maxHost):], "-_.")
}

// rank0 is the host of replica 0 of the first role.
func (n names) rank0(app *spec.App) string { return n.of(app.Roles[0].Name, 0) }

// valid replaces what cannot stand in the name of a container: Docker takes
// [a-zA-Z0-9][a-zA-Z0-9_.-]*.
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

// handleOf is the handle of an app of this backend.
func handleOf(id string) string {
	return spec.Handle{Backend: Name, Session: spec.Session, AppID: id}.String()
}
