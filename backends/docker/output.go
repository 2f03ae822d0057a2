package docker

import (
	"context"
	"fmt"
	"strings"

	"torchx/runtime/backend"
)

var _ backend.OutputFinder = (*Backend)(nil)

// unreachableOutput returns a warning if the engine cannot mount a folder of this machine.
func (p planner) unreachableOutput() []string {
	at, err := findEndpoint(lookup(p.environ))
	if err != nil || at.isLocal() {
		return nil // Submit fails without an endpoint
	}
	return []string{fmt.Sprintf("output_dir has no effect: the engine %s runs on another machine", at)}
}

func (e endpoint) isLocal() bool { return strings.HasPrefix(e.Host, localEngine) }

// Output returns where the outputs of an app are. A remote engine's containers have none.
func (b *Backend) Output(ctx context.Context, id string) (*backend.Output, error) {
	out, err := b.Apps.Output(ctx, id)
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
	return out, nil
}
