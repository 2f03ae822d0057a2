//go:build unix

package local

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/failpoint"
	"torchx/runtime/machine"
)

// Submit writes the bundle, starts its agent and returns when all replicas have started.
func (b *Backend) Submit(ctx context.Context, p *backend.Plan) error {
	m, err := b.manifest(ctx, p)
	if err != nil {
		return err
	}
	return b.Start(m, p.Unrecorded)
}

func (b *Backend) manifest(ctx context.Context, p *backend.Plan) (*agent.Manifest, error) {
	o, err := readOptions(backend.PlanInput{Cfg: p.Cfg})
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(p.Request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	environ := p.Environ
	if environ == nil {
		environ = os.Environ()
	}
	req, _ := p.Request.(*Request) // Plan and Load return no other type
	var devices *agent.DeviceRequest
	var gpus []machine.GPU
	if requestedGPUs(p.App) > 0 {
		if devices = deviceRequest(p.App, o, req, environ); devices != nil || p.Queue {
			gpus = b.machineGPUs(ctx)
		}
	}
	return &agent.Manifest{
		Version: 1, ID: p.ID, Backend: Name, Handle: handleOf(p.ID), Home: b.Home,
		App: p.App, Cfg: p.Cfg, Request: raw, Environ: environ, Record: p.Record, SubmittedAt: failpoint.Now(),
		Lifecycle: agent.Lifecycle{GracePeriod: seconds(o.grace), FailFast: o.failFast, OnEnd: p.OnEnd},
		Placement: agent.Placement{After: p.After, Queue: p.Queue, TTY: p.TTY, Devices: devices, GPUs: gpus, OutputDir: req.OutputDir},
	}, nil
}
