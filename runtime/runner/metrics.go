package runner

import (
	"context"
	"encoding/json"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/spec"
)

// Metrics returns the folder with an app's metrics, as Folder does, after it has completed them if
// they are not. Problems are warnings, since the rest can be read.
func (r *Runner) Metrics(ctx context.Context, ref history.AppKey) (string, error) {
	dir, err := r.Folder(ref)
	if err != nil {
		return "", err
	}
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return "", err
	}
	c, ok := b.(backend.MetricsCollector)
	if done, _ := metrics.Complete(dir); done || !ok { // reading the metrics reports the error
		return dir, nil
	}
	app, ended := r.appAndEnd(ctx, ref)
	if app == nil {
		return dir, nil
	}
	if err := c.CollectMetrics(ctx, ref.ID, app, ended); err != nil {
		r.warn("metrics of %s may be incomplete: %v", ref.Handle(), err)
	} else if ended && r.History != nil {
		if all, err := metrics.Summaries(dir); err == nil && len(all) > 0 {
			_ = r.History.PutMetrics(ctx, ref.Backend, ref.ID, collect.Records(app, all)) // only `list` needs it
		}
	}
	return dir, nil
}

// appAndEnd returns a recorded app, nil if there is none, and whether it has ended.
func (r *Runner) appAndEnd(ctx context.Context, ref history.AppKey) (*spec.App, bool) {
	row := r.row(ctx, ref)
	s, err := r.Status(ctx, ref)
	app := &spec.App{}
	if row == nil || err != nil || json.Unmarshal(row.App, app) != nil {
		return nil, false
	}
	return app, s.State.Terminal()
}
