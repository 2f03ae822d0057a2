package kubernetes

import (
	"context"

	"torchx/backends/archive"
	"torchx/backends/kubernetes/podarchive"
	"torchx/runtime/metrics"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/spec"
)

// CollectMetrics archives the logs that the cluster still has, and collects metrics from the
// archive.
func (b *Backend) CollectMetrics(ctx context.Context, id string, app *spec.App, ended bool) error {
	dir := b.FolderOf(id)
	saved, saveErr := podarchive.Saved{}, error(nil)
	if !archives.IsFollowed(dir) {
		saved, saveErr = b.archive(id, "").Save(ctx)
	}
	c, err := collect.New(podarchive.MetricsConfig(dir, app))
	if err != nil || !podarchive.Exists(dir) {
		return err
	}
	if ended && !archives.IsFollowed(dir) && (saveErr != nil || len(saved.Missing) == 0) {
		return c.Complete(ctx) // without the pods, the archive gets no more lines
	}
	return c.Once(ctx)
}

// metricsOf returns the parts of an app that say what its metrics are.
func metricsOf(app *spec.App) *spec.App {
	small := &spec.App{Name: app.Name, Metadata: map[string]any{spec.OrderKey: app.Metadata[spec.OrderKey]}}
	for i := range app.Roles {
		r := &app.Roles[i]
		small.Roles = append(small.Roles, spec.Role{Name: r.Name, Metadata: map[string]any{spec.OrderKey: r.Metadata[spec.OrderKey]}})
	}
	return small
}

// startMetrics collects the metrics of an archive in the background; the returned function reads
// the rest.
func startMetrics(g *archive.Agent) (finish func()) {
	app := g.Info.App
	if app == nil {
		return func() {}
	}
	config := podarchive.MetricsConfig(g.Dir, app)
	config.Log = g.Log.Printf
	config.Record = func(all []metrics.Summary) {
		ctx := context.Background()
		store, err := g.History.Store(ctx)
		if err == nil {
			err = store.PutMetrics(ctx, g.Backend, g.Info.ID, collect.Records(app, all))
		}
		if err != nil {
			g.Log.Print(err)
		}
	}
	c, err := collect.New(config)
	if err != nil {
		g.Log.Print(err)
		return func() {}
	}
	c.Start()
	return func() { <-c.Stop() }
}
