package supervised

import (
	"context"
	"fmt"

	"torchx/runtime/metrics/collect"
	"torchx/runtime/spec"
)

// CollectMetrics reads what the agent of an app that has ended did not: it was killed, or is
// still busy with it.
func (a *Apps) CollectMetrics(ctx context.Context, id string, _ *spec.App, ended bool) error {
	if !ended {
		return nil
	}
	bundle := a.Bundle(id)
	m, err := bundle.Manifest()
	if err != nil {
		return fmt.Errorf("read app %s: %w", id, err)
	}
	l, err := a.Layout(m)
	if err != nil {
		return fmt.Errorf("read app %s: %w", id, err)
	}
	c, err := collect.New(bundle.MetricsConfig(m, l.ReplicaDir))
	if err != nil {
		return err
	}
	return c.Complete(ctx)
}
