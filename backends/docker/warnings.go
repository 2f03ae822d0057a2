package docker

import (
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/spec"
)

// unsupported returns warnings about settings of an app that have no effect in this backend.
func unsupported(app *spec.App, o options) []string {
	var all, lines []string
	ports := false
	for i := range app.Roles {
		ports = ports || len(app.Roles[i].PortMap) > 0
		for _, what := range ignored(&app.Roles[i]) {
			if !slices.Contains(all, what) {
				all = append(all, what)
			}
		}
	}
	if len(all) > 0 {
		lines = append(lines, "the docker backend ignores: "+strings.Join(all, ", "))
	}
	if o.publishPorts && !ports {
		lines = append(lines, "publish_ports has no effect: no role has a port_map")
	}
	return lines
}

func ignored(role *spec.Role) (what []string) {
	if role.Resource.OtherCapabilities() {
		what = append(what, "capabilities")
	}
	for _, d := range role.Resource.Devices {
		if _, ok := deviceFiles[d.Key]; !ok {
			what = append(what, "device "+d.Key)
		}
	}
	return what
}

// unreachablePorts returns one warning about ports that this machine cannot reach, so that
// they never become ready.
func (p planner) unreachablePorts(app *spec.App, o options, system string) []string {
	var roles []string
	for i := range app.Roles {
		role := &app.Roles[i]
		order, err := role.Order()
		if err == nil && order.Ready != nil && order.Ready.Log == nil {
			roles = append(roles, role.Name)
		}
	}
	if len(roles) == 0 {
		return nil
	}
	at, err := findEndpoint(lookup(p.environ))
	if err != nil {
		return nil // Submit fails without an endpoint
	}
	const unready = "ports of role %s will never become ready: this machine cannot reach "
	switch local := at.isLocal(); {
	case !local:
		return []string{fmt.Sprintf(unready+"containers of the remote engine %s (use \"log\" in \"ready\")", strings.Join(roles, ", "), at)}
	case system != "linux" && !o.publishPorts:
		return []string{fmt.Sprintf(unready+"containers in the virtual machine of the engine (use -cfg publish_ports=true, or \"log\" in \"ready\")", strings.Join(roles, ", "))}
	}
	return nil
}
