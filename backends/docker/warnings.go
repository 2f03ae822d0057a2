package docker

import (
	"strings"

	"torchx/runtime/spec"
)

// unsupported names, in one line, what the app sets and a container cannot honour.
func unsupported(app *spec.App, o options) []string {
	var all []string
	seen := map[string]bool{}
	for i := range app.Roles {
		for _, what := range ignored(&app.Roles[i]) {
			if !seen[what] {
				seen[what] = true
				all = append(all, what)
			}
		}
	}
	var lines []string
	if len(all) > 0 {
		lines = append(lines, "the docker backend ignores: "+strings.Join(all, ", "))
	}
	if o.publishPorts && !hasPorts(app) {
		lines = append(lines, "publish_ports has no effect: no role has a port_map")
	}
	return lines
}

func ignored(role *spec.Role) (what []string) {
	if len(role.Resource.Capabilities) > 0 {
		what = append(what, "capabilities")
	}
	for _, d := range role.Resource.Devices {
		if _, ok := deviceFiles[d.Key]; !ok {
			what = append(what, "device "+d.Key)
		}
	}
	return what
}

func hasPorts(app *spec.App) bool {
	for i := range app.Roles {
		if len(app.Roles[i].PortMap) > 0 {
			return true
		}
	}
	return false
}
