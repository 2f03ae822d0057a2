package docker

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"torchx/runtime/spec"
)

func TestHostAccess(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "data")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	bind := func(src string) func(*spec.Role) {
		return func(r *spec.Role) { r.Mounts = []spec.Mount{{Type: spec.MountBind, Src: src, Dst: "/x"}} }
	}
	driver := &mount.VolumeOptions{DriverConfig: &mount.Driver{Options: map[string]string{"device": "/"}}}
	for name, test := range map[string]struct {
		cfg    string
		change func(*spec.Role)
		host   func(*container.HostConfig) // a change of the request
		want   string
	}{
		"nothing":    {"", bind("data"), nil, ""},
		"privileged": {"privileged=true", nil, nil, "privileged"},
		"root":       {"", bind(".."), nil, "mount of /"},
		"socket":     {"", bind("/home/me/docker.sock"), nil, "mount of /home/me/docker.sock"},
		"link":       {"", bind(link), nil, "mount of /etc"},
		"device": {"", func(r *spec.Role) {
			r.Mounts = []spec.Mount{{Type: spec.MountDevice, Src: "/dev/sda", Dst: "/dev/sda", Permissions: "r"}}
		}, nil, "mount of /dev/sda"},
		"namespaces":   {"", nil, func(h *container.HostConfig) { h.NetworkMode, h.PidMode, h.IpcMode = "host", "host", "host" }, "host network, host pid, host ipc"},
		"capabilities": {"", nil, func(h *container.HostConfig) { h.CapAdd = []string{"CAP_SYS_ADMIN", "CHOWN"} }, "capability SYS_ADMIN"},
		"security":     {"", nil, func(h *container.HostConfig) { h.SecurityOpt = []string{"no-new-privileges", "seccomp=unconfined"} }, "seccomp=unconfined"},
		"binds":        {"", nil, func(h *container.HostConfig) { h.Binds = []string{"/:/host:ro", "name:/v"} }, "mount of /"},
		"volume": {"", nil, func(h *container.HostConfig) {
			h.Mounts = []mount.Mount{{Type: mount.TypeVolume, Target: "/v", VolumeOptions: driver}}
		}, "mount of /"},
	} {
		in := input(t, test.cfg, role("w", test.change))
		p, req := plan(t, in)
		if test.host != nil {
			test.host(req.Containers[0].HostConfig)
			p, _ = planner{}.Load(t.Context(), in, []byte(asJSON(t, req)))
		}
		lines := slices.DeleteFunc(slices.Clone(p.Warnings), func(w string) bool { return !strings.Contains(w, "takes the host") })
		if got := strings.TrimPrefix(strings.Join(lines, "\n"), "role w takes the host: "); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
