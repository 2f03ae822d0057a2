package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Names of resources and labels of nodes, as in TorchX.
const (
	defaultGPU             = "nvidia.com/gpu"
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
		name := corev1.ResourceName(o.gpuName(r))
		limits[name], requests[name] = count(r.GPU), count(r.GPU)
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

// gpuName returns the name of a replica's GPUs.
func (o Options) gpuName(r spec.Resource) string {
	if name, ok := r.Capabilities[spec.CapabilityGPU].(string); ok {
		return name
	}
	return cmp.Or(o.gpu, defaultGPU)
}

// checkGPU refuses a role whose GPUs have a bad name, or are requested a second time as devices.
func (o Options) checkGPU(role *spec.Role) error {
	if v, ok := role.Resource.Capabilities[spec.CapabilityGPU]; ok {
		name, isText := v.(string)
		problem := "must be a text"
		if isText {
			problem = checkResourceName(name)
		}
		if problem != "" {
			return fmt.Errorf("capability %s=%v of role %s: %s", spec.CapabilityGPU,
				v, role.Name, problem)
		}
	}
	name := o.gpuName(role.Resource)
	if n, twice := role.Resource.Devices.Get(name); twice && role.Resource.GPU > 0 &&
		n != role.Resource.GPU {
		return fmt.Errorf("role %s requests %s twice: gpu=%d and devices with %d: leave out one of them", role.Name, name, role.Resource.GPU, n)
	}
	return nil
}

// checkResourceName returns why a name cannot be that of a device plugin's resource, "" if it can
// (k8s.io/kubernetes/pkg/apis/core/v1/helper, IsExtendedResourceName).
func checkResourceName(name string) string {
	const want = "must be DOMAIN/NAME, as in `kubectl describe node`, such as amd.com/gpu"
	domain, _, ok := strings.Cut(name, "/")
	switch {
	case !ok, len(validation.IsQualifiedName(name)) > 0, strings.HasPrefix(name, "requests."), len(validation.IsQualifiedName("requests."+name)) > 0:
		return want
	case domain == "kubernetes.io" || strings.HasSuffix(domain, ".kubernetes.io"):
		return want + "; names of kubernetes.io are the cluster's own"
	}
	return ""
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
	c.VolumeMounts = append(c.VolumeMounts,
		corev1.VolumeMount{Name: shmVolume, MountPath: "/dev/shm"})
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
		c.VolumeMounts = append(c.VolumeMounts,
			corev1.VolumeMount{Name: v.Name, MountPath: m.Dst, ReadOnly: readOnly})
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

// parseEnvSource reads secret:NAME or configmap:NAME.
func parseEnvSource(text string) (s corev1.EnvFromSource, err error) {
	kind, name, ok := strings.Cut(text, ":")
	if !ok {
		return s, backend.Errorf(backend.ErrInvalidOption,
			"env_from=%s: write secret:NAME or configmap:NAME", text)
	}
	if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
		return s, backend.Errorf(backend.ErrInvalidOption, "env_from=%s: %q is not a name: %s",
			text, name, problems[0])
	}
	ref := corev1.LocalObjectReference{Name: name}
	switch kind {
	case "secret":
		s.SecretRef = &corev1.SecretEnvSource{LocalObjectReference: ref}
	case "configmap":
		s.ConfigMapRef = &corev1.ConfigMapEnvSource{LocalObjectReference: ref}
	default:
		return s, backend.Errorf(backend.ErrInvalidOption,
			"env_from=%s: unknown kind %q, write secret:NAME or configmap:NAME", text, kind)
	}
	return s, nil
}
