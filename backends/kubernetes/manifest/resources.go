package manifest

import (
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"torchx/runtime/spec"
)

// Names of resources and labels of nodes, as in TorchX.
const (
	resourceGPU            = "nvidia.com/gpu"
	resourceEFA            = "vpc.amazonaws.com/efa"
	capabilityInstanceType = "node.kubernetes.io/instance-type"
)

// resources returns a replica's limits, and its requests minus the reserve of nodes. A
// resource that is unset or zero has neither.
func (o Options) resources(r spec.Resource) corev1.ResourceRequirements {
	limits, requests := corev1.ResourceList{}, corev1.ResourceList{}
	if milli := int64(r.CPU * 1000); r.CPU > 0 {
		limits[corev1.ResourceCPU] = *resource.NewMilliQuantity(milli, resource.DecimalSI)
		requests[corev1.ResourceCPU] = *resource.NewMilliQuantity(max(0, milli-int64(o.reservedCPU)), resource.DecimalSI)
	}
	if r.MemMB > 0 {
		limits[corev1.ResourceMemory] = megabytes(r.MemMB)
		requests[corev1.ResourceMemory] = megabytes(max(0, r.MemMB-o.memoryReserve(r.MemMB)))
	}
	if r.GPU > 0 {
		limits[resourceGPU], requests[resourceGPU] = count(r.GPU), count(r.GPU)
	}
	devices := r.Devices.Clone()
	if o.efa != nil {
		devices.Set(resourceEFA, *o.efa)
	}
	for _, d := range devices {
		if d.Key == resourceEFA && o.efa != nil && *o.efa == 0 {
			continue
		}
		limits[corev1.ResourceName(d.Key)] = count(d.Value)
	}
	return corev1.ResourceRequirements{Limits: limits, Requests: requests}
}

// memoryReserve returns the MB to subtract from a replica's request. The default is made for
// replicas as large as a node: of smaller ones, it is at most a tenth.
func (o Options) memoryReserve(memMB int) int {
	if o.reservedMem != defaultReservedMem {
		return o.reservedMem
	}
	return min(defaultReservedMem, memMB/10)
}

// megabytes returns decimal megabytes, as TorchX sends them.
func megabytes(n int) resource.Quantity {
	return *resource.NewScaledQuantity(int64(n), resource.Mega)
}

func count(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }

// selector returns the labels that a node must have.
func (o Options) selector(r spec.Resource) map[string]string {
	selector := map[string]string{}
	if v, ok := r.Capabilities[capabilityInstanceType]; ok {
		selector[capabilityInstanceType] = fmt.Sprint(v)
	}
	maps.Copy(selector, o.nodeSelector)
	return selector
}

// shmVolume is mounted at /dev/shm, through which PyTorch's data loaders pass batches: the
// container runtime's default has only 64 MB.
const shmVolume = "dshm"

// addMounts adds volumes to the pod and their mounts to the container.
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
			c.SecurityContext.Privileged = new(true) // otherwise the device cgroup denies access
		default:
			v.HostPath = &corev1.HostPathVolumeSource{Path: m.Src}
		}
		pod.Volumes = append(pod.Volumes, v)
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: m.Dst, ReadOnly: readOnly})
	}
}

// checkMounts refuses relative paths, which no node can mount.
func checkMounts(role *spec.Role) error {
	for _, m := range role.Mounts {
		if m.Type != spec.MountVolume && !strings.HasPrefix(m.Src, "/") {
			return fmt.Errorf("mount %s of role %s: the path on the node must be absolute", m.Src, role.Name)
		}
	}
	return nil
}
