package manifest

import (
	"slices"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func TestHostAccess(t *testing.T) {
	t.Parallel()
	pod := func(fields map[string]any) func(*spec.Role) {
		return func(r *spec.Role) { r.Metadata = map[string]any{overlayKey: map[string]any{"spec": fields}} }
	}
	container := func(context map[string]any) func(*spec.Role) {
		return pod(map[string]any{"initContainers": []any{map[string]any{"name": "i", "image": "x", "securityContext": context}}})
	}
	mounts := func(all ...spec.Mount) func(*spec.Role) { return func(r *spec.Role) { r.Mounts = all } }
	for name, test := range map[string]struct {
		cfg    string
		change func(*spec.Role)
		want   string // "" for no warning
	}{
		"nothing":        {"", nil, ""},
		"namespaces":     {"", pod(map[string]any{"hostPID": true, "hostIPC": true, "hostNetwork": true}), "hostPID, hostIPC, hostNetwork"},
		"option":         {"host_network=true", nil, "hostNetwork"},
		"volume":         {"", pod(map[string]any{"volumes": []any{map[string]any{"name": "h", "hostPath": map[string]any{"path": "/var/lib/kubelet"}}}}), "mount of /var/lib/kubelet"},
		"privileged":     {"", container(map[string]any{"privileged": true, "procMount": "Unmasked"}), "privileged, procMount Unmasked"},
		"escalation":     {"", container(map[string]any{"allowPrivilegeEscalation": true}), "allowPrivilegeEscalation"},
		"no escalation":  {"", container(map[string]any{"allowPrivilegeEscalation": false, "privileged": false}), ""},
		"capabilities":   {"", container(map[string]any{"capabilities": map[string]any{"add": []any{"IPC_LOCK", "SYS_PTRACE"}}}), "capability SYS_PTRACE"},
		"windows":        {"", pod(map[string]any{"securityContext": map[string]any{"windowsOptions": map[string]any{"hostProcess": true}}}), "hostProcess"},
		"mounts":         {"", mounts(spec.Mount{Type: spec.MountBind, Src: "/", Dst: "/h"}, spec.Mount{Type: spec.MountBind, Src: "/data", Dst: "/d"}), "mount of /"},
		"read-only file": {"", mounts(spec.Mount{Type: spec.MountBind, Src: "/etc/localtime", Dst: "/l", ReadOnly: true}), ""},
		"device":         {"", mounts(spec.Mount{Type: spec.MountDevice, Src: "/dev/nvidia0", Dst: "/dev/nvidia0", Permissions: "rw"}), "privileged"},
	} {
		for _, form := range []string{"volcano", "jobset", "job"} {
			in := input(t, strings.Trim("gang="+form+","+test.cfg, ","), role("w", test.change), role("v", nil))
			p, req := plan(t, in)
			loaded, err := Planner{}.Load(t.Context(), in, asJSON(t, req))
			if err != nil {
				t.Errorf("%s, %s: load: %v", name, form, err)
				continue
			}
			for _, p := range []*backend.Plan{p, loaded} {
				lines := slices.DeleteFunc(slices.Clone(p.Warnings), func(w string) bool { return !strings.Contains(w, "takes the host") })
				want := "role w takes the host: " + test.want
				if test.cfg != "" {
					want += "; role v takes the host: " + test.want
				}
				if got := strings.Join(lines, "\n"); test.want == "" && got != "" || test.want != "" && got != want {
					t.Errorf("%s, %s: got %q, want %q", name, form, got, want)
				}
			}
		}
	}
}
