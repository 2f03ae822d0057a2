package docker

import (
	"context"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// CapacityFor returns how many apps like this one fit on the engine's machine. An app that requests no
// CPU counts as one.
func (b *Backend) CapacityFor(ctx context.Context, app *spec.App, _ backend.Config) (*backend.Capacity, error) {
	engine, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	info, err := engine.Info(ctx)
	if err != nil {
		return nil, b.at.explain(err)
	}
	demand := agent.Demand(app)
	if demand.GPU = 0; demand.CPU == 0 {
		demand.CPU = 1
	}
	total := machine.Size{CPU: float64(info.NCPU), MemMB: int(info.MemTotal >> 20)}
	return &backend.Capacity{Apps: max(total.Fits(demand), 1)}, nil
}
