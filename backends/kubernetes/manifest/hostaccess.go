package manifest

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"torchx/backends/hostaccess"
	"torchx/backends/kubernetes/label"
	"torchx/runtime/spec"
)

// hostAccess returns a warning about pods that take their node, or nothing.
func hostAccess(app *spec.App, objects []Object) []string {
	var found hostaccess.Findings
	for _, o := range objects {
		for _, pod := range PodSets(o) {
			if i, err := strconv.Atoi(pod.Labels[label.RoleIndex]); err == nil && i >= 0 && i < len(app.Roles) {
				addPod(&found, app.Roles[i].Name, &pod.Spec)
			}
		}
	}
	return found.Warnings()
}

// addPod records the settings of a pod that take its node.
func addPod(found *hostaccess.Findings, role string, pod *corev1.PodSpec) {
	found.AddIf(pod.HostPID, role, "hostPID")
	found.AddIf(pod.HostIPC, role, "hostIPC")
	found.AddIf(pod.HostNetwork, role, "hostNetwork")
	if s := pod.SecurityContext; s != nil && s.WindowsOptions != nil {
		found.AddIf(ptr.Deref(s.WindowsOptions.HostProcess, false), role, "hostProcess")
	}
	containers := slices.Concat(pod.InitContainers, pod.Containers)
	for _, c := range containers {
		if s := c.SecurityContext; s != nil {
			addContainer(found, role, s)
		}
	}
	for _, v := range pod.Volumes {
		if v.HostPath != nil {
			found.AddMount(role, v.HostPath.Path, !isWritable(containers, v.Name))
		}
	}
}

// addContainer records the settings of a container that take its node.
func addContainer(found *hostaccess.Findings, role string, s *corev1.SecurityContext) {
	found.AddIf(ptr.Deref(s.Privileged, false), role, "privileged")
	found.AddIf(ptr.Deref(s.AllowPrivilegeEscalation, false), role, "allowPrivilegeEscalation")
	found.AddIf(ptr.Deref(s.ProcMount, "") == corev1.UnmaskedProcMount, role, "procMount Unmasked")
	if s.Capabilities != nil {
		for _, c := range s.Capabilities.Add {
			found.AddCapabilities(role, []string{string(c)})
		}
	}
	if s.WindowsOptions != nil {
		found.AddIf(ptr.Deref(s.WindowsOptions.HostProcess, false), role, "hostProcess")
	}
}

// isWritable reports whether a container can write to a volume.
func isWritable(containers []corev1.Container, volume string) bool {
	return slices.ContainsFunc(containers, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume && !m.ReadOnly })
	})
}
