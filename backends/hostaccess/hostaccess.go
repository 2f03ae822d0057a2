// Package hostaccess recognizes settings of containers that give a role control of the machine
// that runs it. Backends collect them in Findings when they plan: components come from
// libraries, so the user may not know about them.
package hostaccess

import (
	"path"
	"slices"
	"strings"
)

// Findings holds the settings that take the host, by role.
type Findings struct {
	roles    []string
	settings map[string][]string
}

// Add records a setting of a role once.
func (f *Findings) Add(role, setting string) {
	if f.settings == nil {
		f.settings = map[string][]string{}
	}
	if f.settings[role] == nil {
		f.roles = append(f.roles, role)
	}
	if !slices.Contains(f.settings[role], setting) {
		f.settings[role] = append(f.settings[role], setting)
	}
}

// AddIf records a setting if on is true.
func (f *Findings) AddIf(on bool, role, setting string) {
	if on {
		f.Add(role, setting)
	}
}

// AddMount records the mount of a path of the host if IsSensitive reports it.
func (f *Findings) AddMount(role, hostPath string, readOnly bool) {
	f.AddIf(IsSensitive(hostPath, readOnly), role, "mount of "+path.Clean(hostPath))
}

// AddCapabilities records added capabilities that reach beyond a container.
func (f *Findings) AddCapabilities(role string, added []string) {
	for _, name := range added {
		name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
		f.AddIf(!slices.Contains(contained, name), role, "capability "+name)
	}
}

// Warnings returns one line about all roles, or nothing.
func (f *Findings) Warnings() []string {
	if len(f.roles) == 0 {
		return nil
	}
	parts := make([]string, len(f.roles))
	for i, role := range f.roles {
		parts[i] = "role " + role + " takes the host: " + strings.Join(f.settings[role], ", ")
	}
	return []string{strings.Join(parts, "; ")}
}

// contained are the capabilities that Docker gives every container, and those that only lift
// limits of memory and scheduling, which training with RDMA needs.
var contained = []string{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW",
	"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT", "IPC_LOCK", "SYS_NICE", "SYS_RESOURCE",
}

var (
	// sensitive are folders that expose the host with everything below them: its
	// configuration, its kernel, its devices, its services and other containers.
	sensitive = []string{
		"/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/var/lib/containerd", "/var/lib/containers", "/var/lib/docker",
		"/var/lib/etcd", "/var/lib/kubelet", "/var/lib/rancher", "/var/log", "/var/run", "/var/spool/cron",
	}
	// programs are folders whose files the host executes. Reading them is harmless.
	programs = []string{"/bin", "/lib", "/lib64", "/opt/cni", "/sbin", "/usr"}
	// homes are sensitive as a whole; a project in a home is not.
	homes = []string{"/home", "/root"}
	// harmless are the beginnings of exceptions below sensitive: shared memory, /dev/null, and
	// the devices of accelerators and their networks.
	harmless = []string{"/dev/dri", "/dev/infiniband", "/dev/kfd", "/dev/neuron", "/dev/null", "/dev/nvidia", "/dev/shm"}
	// readable are exceptions below sensitive for mounts that cannot write.
	readable = []string{"/etc/localtime", "/etc/pki", "/etc/ssl", "/etc/timezone"}
	// sockets are names of the sockets of container engines, in any folder.
	sockets = []string{"containerd.sock", "cri-dockerd.sock", "crio.sock", "docker.sock", "podman.sock"}
)

// IsSensitive reports whether a container that mounts a path of the host controls the host
// or reads its secrets.
func IsSensitive(hostPath string, readOnly bool) bool {
	hostPath = path.Clean("/" + hostPath)
	within := func(folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return isBelow(hostPath, folder) })
	}
	contains := func(folders []string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return isBelow(folder, hostPath) })
	}
	isDevice := slices.ContainsFunc(harmless, func(prefix string) bool { return strings.HasPrefix(hostPath, prefix) })
	switch {
	case slices.Contains(sockets, path.Base(hostPath)):
		return true
	case isDevice || readOnly && within(readable):
		return false
	case within(sensitive) || contains(slices.Concat(sensitive, homes)):
		return true
	}
	return !readOnly && (within(programs) || contains(programs))
}

// isBelow reports whether a clean path is a folder or below it.
func isBelow(p, folder string) bool {
	rest, ok := strings.CutPrefix(p, folder)
	return ok && (rest == "" || rest[0] == '/' || folder == "/")
}
