package docker

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/go-units"
)

// fit returns the containers as a machine with so many CPUs and bytes of memory
// can run them, and a warning for each limit above that; zero is not known. The engine
// refuses a CPU limit above what there is, but `gpu.small` must run on a laptop;
// a memory limit above what there is is never met.
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
		changed := *c.HostConfig // the plan stays what it was
		changed.NanoCPUs = limit
		out[i].HostConfig = &changed
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

// fitEngine is fit for the engine that info is about and whose address is host. It
// leaves GPUs out, with a warning, where there are surely none: the engine would
// refuse to start the containers.
func fitEngine(containers []Container, info system.Info, host string) ([]Container, []string) {
	out, warnings := fit(containers, info.NCPU, info.MemTotal)
	if mayHaveGPUs(info, host) {
		return out, warnings
	}
	most := 0
	for i, c := range out {
		changed := *c.HostConfig
		changed.DeviceRequests = nil
		for _, d := range c.HostConfig.DeviceRequests {
			if d.Driver == "" {
				most = max(most, d.Count)
			} else { // the user asked for a driver by its name
				changed.DeviceRequests = append(changed.DeviceRequests, d)
			}
		}
		out[i].HostConfig = &changed
	}
	if most > 0 {
		warnings = append(warnings, fmt.Sprintf("containers ask for up to %d GPUs, the engine has none: they run without", most))
	}
	return out, warnings
}

// mayHaveGPUs is false only where nothing speaks for GPUs: no runtime for them in
// the engine and, where it is on this machine, no device of NVIDIA's (or of
// Windows', below WSL).
func mayHaveGPUs(info system.Info, host string) bool {
	if _, ok := info.Runtimes["nvidia"]; ok || len(info.DiscoveredDevices) > 0 || !strings.HasPrefix(host, localEngine) {
		return true
	}
	for _, pattern := range []string{"/dev/nvidia*", "/dev/dxg"} {
		if found, err := filepath.Glob(pattern); err != nil || len(found) > 0 {
			return true
		}
	}
	return false
}
