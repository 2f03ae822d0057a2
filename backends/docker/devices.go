package docker

import (
	"strconv"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/spec"
)

// deviceFiles are the devices that a resource may ask for and what their files
// are called, without the number; as in TorchX (torchx/specs, schedulers/devices.py).
var deviceFiles = map[string]string{
	"vpc.amazonaws.com/efa":       "/dev/infiniband/uverbs",
	"aws.amazon.com/neurondevice": "/dev/neuron",
}

// addDevices adds the device files of a role's resource. Devices that nobody
// knows are named by ignored.
func addDevices(h *container.HostConfig, devices spec.Map[int]) {
	for _, d := range devices {
		file, ok := deviceFiles[d.Key]
		for n := 0; ok && n < d.Value; n++ {
			path := file + strconv.Itoa(n)
			h.Devices = append(h.Devices, device(path, path, "rwm"))
		}
	}
}

// gpuRequest asks for any n GPUs, with the capabilities that TorchX names.
func gpuRequest(n int) container.DeviceRequest {
	return container.DeviceRequest{Count: n, Capabilities: [][]string{{"compute", "utility"}}}
}

// setResources limits a container; what the resource does not say has no limit.
func setResources(h *container.HostConfig, r spec.Resource) {
	const mib = 1 << 20
	if r.MemMB >= 0 {
		h.Memory = int64(r.MemMB) * mib
		h.ShmSize = h.Memory // data loaders of PyTorch pass batches through /dev/shm
	}
	if r.CPU >= 0 {
		h.NanoCPUs = int64(r.CPU * 1e9)
	}
	if r.GPU > 0 {
		h.DeviceRequests = append(h.DeviceRequests, gpuRequest(r.GPU))
	}
}
