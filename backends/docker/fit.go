package docker

import (
	"fmt"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/go-units"
)

// fit returns the containers as a machine with so many CPUs and bytes of memory
// can run them, and a warning for each limit that it does not reach. The engine
// refuses a CPU limit above what there is, which is no reason not to run
// `gpu.small` on a laptop; memory above it is only a limit that is never met.
// Zero says that the machine's figure is not known.
func fit(containers []Container, cpus int, memory int64) ([]Container, []string) {
	out := append([]Container{}, containers...)
	mostCPU, mostMemory, cut := int64(0), int64(0), 0
	for i, c := range out {
		mostMemory = max(mostMemory, c.HostConfig.Memory)
		limit := int64(cpus) * 1e9
		if cpus == 0 || c.HostConfig.NanoCPUs <= limit {
			continue
		}
		mostCPU, cut = max(mostCPU, c.HostConfig.NanoCPUs), cut+1
		out[i].HostConfig = withCPUs(c.HostConfig, limit)
	}
	var warnings []string
	if cut > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d containers ask for up to %v CPUs, the engine has %d: they get %d",
			cut, len(out), float64(mostCPU)/1e9, cpus, cpus))
	}
	if memory > 0 && mostMemory > memory {
		warnings = append(warnings, fmt.Sprintf("containers may use up to %s of memory, the engine has %s: they can run out before they reach their limit",
			units.BytesSize(float64(mostMemory)), units.BytesSize(float64(memory))))
	}
	return out, warnings
}

// withCPUs is a copy: the plan stays what it was.
func withCPUs(h *container.HostConfig, nano int64) *container.HostConfig {
	changed := *h
	changed.NanoCPUs = nano
	return &changed
}
