package spec

// Resource is what one replica requests. A negative number means "not set".
type Resource struct {
	CPU          float64        `json:"cpu"`
	GPU          int            `json:"gpu"`
	MemMB        int            `json:"memMB"` // MiB, named as in TorchX
	Capabilities map[string]any `json:"capabilities"`
	Devices      Map[int]       `json:"devices"` // device name to count
	Tags         map[string]any `json:"tags"`
}

// CapabilityGPU is the capability that names the GPUs of a resource on a cluster, such as
// amd.com/gpu. Backends without a choice of GPUs ignore it.
const CapabilityGPU = "gpu_resource"

// OtherCapabilities reports whether the resource has capabilities besides CapabilityGPU.
func (r Resource) OtherCapabilities() bool {
	_, ok := r.Capabilities[CapabilityGPU]
	return len(r.Capabilities) > 1 || len(r.Capabilities) == 1 && !ok
}

// NullResource returns the resource of a role without requests.
func NullResource() Resource {
	return Resource{
		CPU: -1, GPU: -1, MemMB: -1,
		Capabilities: map[string]any{}, Devices: Map[int]{}, Tags: map[string]any{},
	}
}

// IsNull reports whether r is the null resource.
func (r Resource) IsNull() bool { return r.CPU == -1 && r.GPU == -1 && r.MemMB == -1 }

// Clone returns a deep copy.
func (r Resource) Clone() Resource {
	r.Capabilities = cloneMap(r.Capabilities)
	r.Devices = r.Devices.Clone()
	r.Tags = cloneMap(r.Tags)
	return r
}
