package docker

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/docker/docker/api/types/system"
	"github.com/docker/go-units"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// capLimits returns the containers with limits that a machine with these CPUs and bytes of
// memory accepts, and a warning for each limit above them; zero means unknown. The engine
// refuses a CPU limit above its CPUs, but `gpu.small` must run on a laptop. It accepts a
// memory limit above its memory, although it can never be reached.
func capLimits(containers []Container, cpus int, memory int64) ([]Container, []string) {
	out := append([]Container{}, containers...)
	maxCPU, maxMemory, reduced := int64(0), int64(0), 0
	for i, c := range out {
		maxMemory = max(maxMemory, c.HostConfig.Memory)
		limit := int64(cpus) * 1e9
		if cpus == 0 || c.HostConfig.NanoCPUs <= limit {
			continue
		}
		maxCPU, reduced = max(maxCPU, c.HostConfig.NanoCPUs), reduced+1
		changed := *c.HostConfig // the plan must not change
		changed.NanoCPUs = limit
		out[i].HostConfig = &changed
	}
	var warnings []string
	if reduced > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d containers request up to %v CPUs, but the engine has %d: they get %d",
			reduced, len(out), float64(maxCPU)/1e9, cpus, cpus))
	}
	if memory > 0 && maxMemory > memory {
		warnings = append(warnings, fmt.Sprintf("containers may use up to %s of memory, but the engine has %s: it can run out of memory before they reach their limit",
			units.BytesSize(float64(maxMemory)), units.BytesSize(float64(memory))))
	}
	return out, warnings
}

// adaptTo is capLimits for the engine at host that info describes. If the engine certainly
// has no GPUs, it also removes them, with a warning, because the engine would refuse to
// start the containers.
func adaptTo(containers []Container, info system.Info, host string) ([]Container, []string) {
	out, warnings := capLimits(containers, info.NCPU, info.MemTotal)
	if mayHaveGPUs(info, host) {
		return out, warnings
	}
	gpus := 0
	for i, c := range out {
		changed := *c.HostConfig
		changed.DeviceRequests = nil
		for _, d := range c.HostConfig.DeviceRequests {
			if d.Driver == "" {
				gpus = max(gpus, d.Count)
			} else { // the user requested a driver by name
				changed.DeviceRequests = append(changed.DeviceRequests, d)
			}
		}
		out[i].HostConfig = &changed
	}
	if gpus > 0 {
		warnings = append(warnings, fmt.Sprintf("containers request up to %d GPUs, but the engine has none: they run without GPUs", gpus))
	}
	return out, warnings
}

// mayHaveGPUs returns false only if the engine is on this machine, has no GPU runtime and
// there is no GPU device: of NVIDIA, or of Windows in WSL.
func mayHaveGPUs(info system.Info, host string) bool {
	if _, ok := info.Runtimes["nvidia"]; ok || len(info.DiscoveredDevices) > 0 ||
		!strings.HasPrefix(host, localEngine) {
		return true
	}
	for _, pattern := range []string{"/dev/nvidia*", "/dev/dxg"} {
		if found, err := filepath.Glob(pattern); err != nil || len(found) > 0 {
			return true
		}
	}
	return false
}

// CapacityFor returns how many apps like this one fit on the engine's machine. An app that
// requests no CPU counts as one.
func (b *Backend) CapacityFor(
	ctx context.Context, app *spec.App, cfg backend.Config,
) (*backend.Capacity, error) {
	at, err := b.endpointFor(cfg)
	if err != nil {
		return nil, backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	engine, err := b.connectTo(ctx, at)
	if err != nil {
		return nil, err
	}
	info, err := engine.Info(ctx)
	if err != nil {
		return nil, at.explain(err)
	}
	demand := agent.Demand(app)
	if demand.GPU = 0; demand.CPU == 0 {
		demand.CPU = 1
	}
	total := machine.Size{CPU: float64(info.NCPU), MemMB: int(info.MemTotal >> 20)}
	return &backend.Capacity{Apps: max(total.Fits(demand), 1)}, nil
}
