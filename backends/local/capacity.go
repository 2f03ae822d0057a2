package local

import (
	"context"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// CapacityFor returns how many apps like this one fit on this machine. An app that requests no CPU
// counts as one. Apps with GPUs get their own ones, if the machine has enough.
func (b *Backend) CapacityFor(
	ctx context.Context, app *spec.App, _ backend.Config,
) (*backend.Capacity, error) {
	total, err := machine.Total()
	if err != nil {
		return nil, err
	}
	demand := agent.Demand(app)
	gpus := demand.GPU
	capacity := &backend.Capacity{Queue: demand != machine.Size{}}
	if demand.GPU = 0; demand.CPU == 0 {
		demand.CPU = 1
	}
	if gpus > 0 {
		lines, _ := b.gpuLines(ctx) // Plan warns of errors
		if total.GPU = len(machine.ParseGPUs(lines)); total.GPU >= gpus {
			demand.GPU = gpus
			capacity.Cfg = backend.JSONLayer(map[string]any{"auto_set_cuda_visible_devices": true}, "the sweep")
		} else {
			capacity.Queue = false // it would wait forever
		}
	}
	fits := total.Fits(demand)
	capacity.Apps, capacity.Queue = max(fits, 1), capacity.Queue && fits > 0
	return capacity, nil
}
