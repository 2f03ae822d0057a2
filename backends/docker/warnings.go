package docker

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/docker/api/types/system"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"torchx/backends/hostaccess"
	"torchx/runtime/backend"
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

// unready begins a warning about probes that cannot pass.
const unready = "ports of role %s will never become ready: this machine cannot reach "

// probedByPort returns the names of roles whose readiness is a port.
func probedByPort(app *spec.App) (roles []string) {
	for i := range app.Roles {
		role := &app.Roles[i]
		order, err := role.Order()
		if err == nil && order.Ready != nil && order.Ready.ByPort() {
			roles = append(roles, role.Name)
		}
	}
	return roles
}

// unreachablePorts returns one warning about ports that this machine cannot reach, so that
// they never become ready.
func (p planner) unreachablePorts(app *spec.App, cfg backend.Config, o options, system string) []string {
	roles := probedByPort(app)
	if len(roles) == 0 {
		return nil
	}
	at, err := p.endpointFor(cfg)
	if err != nil {
		return nil // Submit fails without an endpoint
	}
	switch local := at.isLocal(); {
	case !local:
		return []string{fmt.Sprintf(unready+"containers of the remote engine %s (use \"log\" in \"ready\")", strings.Join(roles, ", "), at)}
	case system != "linux" && !o.publishPorts:
		return []string{fmt.Sprintf(unready+"containers in the virtual machine of the engine (use -cfg publish_ports=true, or \"log\" in \"ready\")", strings.Join(roles, ", "))}
	}
	return nil
}

// separatePorts returns a warning about ports that this machine cannot reach because the
// networks of its engine are not here: the engine runs without root, or in another network
// namespace. A network that does not exist yet tells nothing.
func separatePorts(
	ctx context.Context, engine *client.Client, p *backend.Plan, info system.Info, published bool,
) string {
	roles := probedByPort(p.App)
	if published || len(roles) == 0 || runtime.GOOS != "linux" ||
		!strings.HasPrefix(engine.DaemonHost(), localEngine) {
		return ""
	}
	isRootless := slices.ContainsFunc(info.SecurityOptions, func(o string) bool { return strings.HasPrefix(o, "name=rootless") })
	if !isRootless && !hasNetworkElsewhere(ctx, engine, p.Request.(*Request).Network) {
		return ""
	}
	return fmt.Sprintf(unready+`containers of this engine (use -cfg publish_ports=true, or "log" in "ready")`, strings.Join(roles, ", "))
}

// hasNetworkElsewhere reports whether a network exists whose bridge is not on this machine.
func hasNetworkElsewhere(ctx context.Context, engine *client.Client, name string) bool {
	n, err := engine.NetworkInspect(ctx, name, network.InspectOptions{})
	return err == nil && slices.ContainsFunc(n.IPAM.Config, func(c network.IPAMConfig) bool {
		return c.Gateway != "" && !hasBridge(n.ID, c.Gateway)
	})
}

// dualLoggingAPI is the API version of Docker 20.10, the first that keeps a readable copy of what
// it sends to log drivers such as syslog.
const dualLoggingAPI = "1.41"

// unreadableLog returns a warning about an engine whose log cannot be read, or nothing.
func unreadableLog(driver, api string) string {
	switch {
	case driver == "none":
	case driver == "json-file", driver == "local", driver == "journald", !versions.LessThan(api, dualLoggingAPI):
		return ""
	}
	return fmt.Sprintf("logs stay empty: the log driver %q of the engine cannot be read (set \"log-driver\": \"local\" in its daemon.json)", driver)
}

// hostAccess returns a warning about containers that take the host, or nothing.
func (r *Request) hostAccess() []string {
	var found hostaccess.Findings
	for i := range r.Containers {
		c := &r.Containers[i]
		role, h := c.Config.Labels[LabelRole], c.HostConfig
		found.AddIf(h.Privileged, role, "privileged")
		found.AddIf(h.NetworkMode.IsHost(), role, "host network")
		found.AddIf(h.PidMode.IsHost(), role, "host pid")
		found.AddIf(h.IpcMode.IsHost(), role, "host ipc")
		found.AddIf(h.UsernsMode.IsHost(), role, "host userns")
		found.AddIf(h.CgroupnsMode.IsHost(), role, "host cgroupns")
		found.AddCapabilities(role, h.CapAdd)
		for _, option := range h.SecurityOpt {
			found.AddIf(strings.HasSuffix(option, "unconfined") || strings.HasSuffix(option, "disable"), role, option)
		}
		for _, m := range h.Mounts {
			switch {
			case m.Type == mount.TypeBind:
				found.AddMount(role, resolved(m.Source), m.ReadOnly)
			case m.VolumeOptions != nil && m.VolumeOptions.DriverConfig != nil:
				if device := m.VolumeOptions.DriverConfig.Options["device"]; filepath.IsAbs(device) {
					found.AddMount(role, resolved(device), m.ReadOnly)
				}
			}
		}
		for _, bind := range h.Binds {
			source, _, _ := strings.Cut(bind, ":")
			if filepath.IsAbs(source) {
				found.AddMount(role, resolved(source), false)
			}
		}
		for _, d := range h.Devices {
			found.AddMount(role, d.PathOnHost, false)
		}
	}
	return found.Warnings()
}

// resolved follows links of this machine, because a cloned folder may contain a link to /.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
