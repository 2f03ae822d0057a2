package runner

import (
	"context"
	"encoding/json"
	"os"

	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/metrics/collect"
	"torchx/runtime/spec"
)

// Metrics returns the folder with an app's metrics, as Folder does, after it has completed them if
// they are not. Problems are warnings, since the rest can be read.
func (r *Runner) Metrics(ctx context.Context, ref history.AppKey) (string, error) {
	keeper, err := r.folders(ref)
	if err != nil {
		return "", err
	}
	dir := keeper.FolderOf(ref.ID)
	if done, _ := metrics.Complete(dir); done { // reading the metrics reports the error
		return dir, nil
	}
	app, ended := r.appAndEnd(ctx, ref)
	if app == nil {
		return dir, nil
	}
	if err := keeper.CollectMetrics(ctx, ref.ID, app, ended); err != nil {
		r.warn("metrics of %s may be incomplete: %v", ref.Handle(), err)
	} else if ended && r.History != nil {
		if all, err := metrics.Summaries(dir); err == nil && len(all) > 0 {
			// Only `list` needs it. The next call would not record what is complete.
			_ = r.History.PutMetrics(context.WithoutCancel(ctx), ref.Backend, ref.ID,
				collect.Records(app, all))
		}
	}
	return dir, nil
}

// collectLate collects the metrics of the newest apps of a filter that no supervisor collects, so
// that the history can sort them.
func (r *Runner) collectLate(ctx context.Context, f Filter) {
	if r.History == nil {
		return
	}
	quiet := *r
	quiet.Warn = func(string) {} // an app without its metrics is left out
	for _, name := range r.Backends.Names() {
		can, err := r.Backends.Capabilities(name)
		if err != nil || !can.CollectsLate || f.Backend != "" && f.Backend != name {
			continue
		}
		for _, ref := range quiet.uncollected(ctx, f, name) {
			quiet.recordMetrics(ctx, ref)
		}
	}
}

// maxLate bounds the apps whose metrics one list collects.
const maxLate = 200

// uncollected returns the newest apps of a backend without the metric of a filter.
func (r *Runner) uncollected(
	ctx context.Context, f Filter, backendName string,
) (refs []history.AppKey) {
	query := f.query()
	query.Backend, query.Offset, query.Limit = backendName, 0, 0
	known := map[history.AppKey]bool{}
	_ = r.History.Walk(ctx, query, func(a *history.App) error { // the list reports its error
		known[a.AppKey] = true
		return nil
	})
	query.SortMetric, query.Sort, query.Limit = nil, history.SortSubmitted, maxLate
	_ = r.History.Walk(ctx, query, func(a *history.App) error {
		if !known[a.AppKey] || !a.State.Terminal() {
			refs = append(refs, a.AppKey)
		}
		return nil
	})
	return refs
}

// recordMetrics puts the metrics of an app into the history, if it has any on this machine.
func (r *Runner) recordMetrics(ctx context.Context, ref history.AppKey) {
	dir, err := r.Folder(ref)
	if err == nil {
		_, err = os.Stat(dir)
	}
	if err != nil {
		return
	}
	_, _ = r.Metrics(ctx, ref)
	app, _ := r.appAndEnd(ctx, ref)
	if all, err := metrics.Summaries(dir); app != nil && err == nil && len(all) > 0 {
		_ = r.History.PutMetrics(ctx, ref.Backend, ref.ID, collect.Records(app, all))
	}
}

// appAndEnd returns a recorded app, nil if there is none, and whether it has ended.
func (r *Runner) appAndEnd(ctx context.Context, ref history.AppKey) (*spec.App, bool) {
	row := r.row(ctx, ref)
	s, err := r.Status(ctx, ref)
	app := &spec.App{}
	if row == nil || err != nil || json.Unmarshal(row.Spec, app) != nil {
		return nil, false
	}
	return app, s.State.Terminal()
}
