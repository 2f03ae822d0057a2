package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/client"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// Submit prepares the images on the engine, writes the bundle, starts its agent and
// returns when all containers have started.
func (b *Backend) Submit(ctx context.Context, p *backend.Plan) error {
	if b.Bundle(p.ID).Exists() {
		return fmt.Errorf("app %s: %w", p.ID, backend.ErrExists)
	}
	at, err := b.endpointFor(p.Cfg)
	if err != nil {
		return backend.Errorf(backend.ErrUnavailable, "%w", err)
	}
	engine, err := b.connectTo(ctx, at)
	if err != nil {
		return err
	}
	existing, err := containersOf(ctx, engine, p.ID)
	if err != nil {
		return notStarted(ctx, err)
	}
	if len(existing) > 0 {
		return fmt.Errorf("app %s: the engine already has its containers: %w",
			p.ID, backend.ErrExists)
	}
	if err := b.prepare(ctx, engine, p); err != nil {
		return notStarted(ctx, err)
	}
	m, err := b.manifest(ctx, engine, at, p)
	if err != nil {
		return notStarted(ctx, err)
	}
	return b.Start(m, p.Unrecorded)
}

// notStarted returns the error of an app that the engine did not start: that of the context if
// it was canceled, else a *backend.StartError.
func notStarted(ctx context.Context, err error) error {
	if canceled := preferCancel(ctx, err); errors.Is(canceled, context.Canceled) {
		return canceled
	}
	return &backend.StartError{Code: spec.ExitNotStarted, Err: err}
}

// manifest returns the agent's manifest: the plan, adapted to the engine's machine.
func (b *Backend) manifest(
	ctx context.Context, engine *client.Client, at endpoint, p *backend.Plan,
) (*agent.Manifest, error) {
	o, err := readOptions(p.Cfg)
	if err != nil {
		return nil, err
	}
	info, err := engine.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("get the engine's resources: %w", plain(err))
	}
	req := *p.Request.(*Request)
	containers, warnings := adaptTo(req.Containers, info, engine.DaemonHost())
	warnings = append(warnings, separatePorts(ctx, engine, p, info, o.publishPorts), unreadableLog(info.LoggingDriver, engine.ClientVersion()))
	for _, w := range warnings {
		if w != "" {
			p.Progress.Tell(backend.Step{Warning: w})
		}
	}
	req.Containers = containers
	raw, err := json.Marshal(&req)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	return &agent.Manifest{
		Version: 1, ID: p.ID, Backend: Name, Handle: handleOf(p.ID),
		App: p.App, Cfg: p.Cfg, Request: raw, Environ: at.environ(), Record: p.Record,
		Home: b.Home, SubmittedAt: time.Now(),
		Lifecycle: agent.Lifecycle{GracePeriod: time.Duration(o.grace * float64(time.Second)), FailFast: o.failFast, Containers: true, MetricsInLog: !at.isLocal(), OnEnd: p.OnEnd},
		Placement: agent.Placement{After: p.After, OutputDir: req.OutputDir, TTY: p.TTY},
	}, nil
}

// containersOf lists the containers of an app, in any state.
func containersOf(
	ctx context.Context, engine *client.Client, id string,
) ([]container.Summary, error) {
	all, err := engine.ContainerList(ctx, container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", LabelAppID+"="+id)),
	})
	if err != nil {
		return nil, fmt.Errorf("list containers of app %s: %w", id, plain(err))
	}
	return all, nil
}
