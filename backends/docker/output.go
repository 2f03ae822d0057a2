package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// unreachableOutput returns a warning if the engine cannot mount a folder of this machine.
func (p planner) unreachableOutput(cfg backend.Config) []string {
	at, err := p.endpointFor(cfg)
	if err != nil || at.isLocal() {
		return nil // Submit fails without an endpoint
	}
	return []string{fmt.Sprintf("output_dir has no effect: the engine %s runs on another machine", at)}
}

func (e endpoint) isLocal() bool { return strings.HasPrefix(e.Host, localEngine) }

// OutputOf returns where the outputs of an app are. A remote engine's containers have none.
func (b *Backend) OutputOf(ctx context.Context, id string) (*backend.Output, error) {
	out, err := b.Apps.OutputOf(ctx, id)
	if err != nil {
		return nil, err
	}
	m, err := b.Bundle(id).Manifest()
	if err != nil {
		return nil, fmt.Errorf("read app %s: %w", id, err)
	}
	if at, err := findEndpoint(lookup(m.Environ)); err == nil && !at.isLocal() {
		return nil, backend.Errorf(backend.ErrNotFound, "app %s has no output folder: its containers run on another machine, the engine %s", id, at)
	}
	if req := new(Request); json.Unmarshal(m.Request, req) == nil && len(req.Containers) > 0 {
		out.Read = fmt.Sprintf("docker cp %s:%s/. .", req.Containers[0].Name, spec.OutputMount)
	}
	return out, nil
}
