package manifest

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"torchx/runtime/spec"
)

// shmVolume is what /dev/shm is: data loaders of PyTorch pass batches through it,
// and the runtime's own has 64 MB.
const shmVolume = "dshm"

// addMounts gives the pod its volumes and the container what it mounts of them.
func addMounts(pod *corev1.PodSpec, c *corev1.Container, mounts []spec.Mount) {
	shm := &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}
	pod.Volumes = append(pod.Volumes, corev1.Volume{Name: shmVolume, VolumeSource: corev1.VolumeSource{EmptyDir: shm}})
	c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: shmVolume, MountPath: "/dev/shm"})
	for i, m := range mounts {
		v := corev1.Volume{Name: fmt.Sprintf("mount-%d", i)}
		readOnly := m.ReadOnly
		switch m.Type {
		case spec.MountVolume:
			v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: m.Src}
		case spec.MountDevice:
			v.HostPath = &corev1.HostPathVolumeSource{Path: m.Src}
			readOnly = !strings.ContainsAny(m.Permissions, "wm")
			yes := true
			c.SecurityContext.Privileged = &yes // else the device's cgroup does not let the container open it
		default:
			v.HostPath = &corev1.HostPathVolumeSource{Path: m.Src}
		}
		pod.Volumes = append(pod.Volumes, v)
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: m.Dst, ReadOnly: readOnly})
	}
}

// checkMounts refuses what no node can mount.
func checkMounts(role *spec.Role) error {
	for _, m := range role.Mounts {
		if m.Type != spec.MountVolume && !strings.HasPrefix(m.Src, "/") {
			return fmt.Errorf("mount %s of role %s: it is a path of the node, so it must be absolute", m.Src, role.Name)
		}
	}
	return nil
}
