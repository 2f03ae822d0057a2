package runner

import (
	"context"
	"slices"

	"torchx/runtime/history"
)

// FirstPrunable returns the first limit apps of Prunable, all if it is 0, and how many there are in
// all. With a limit the history finds them by its indexes, whatever the number of apps, unless a
// size or a backend is given. Errors: as Prunable.
func (r *Runner) FirstPrunable(
	ctx context.Context, f PruneFilter, limit int,
) (first []Prunable, count int, err error) {
	n, ok := 0, false
	if limit > 0 && r.knowsPrunable(ctx, &f) {
		if n, ok, err = r.countPrunable(ctx, &f); err != nil {
			return nil, 0, err
		}
	}
	if !ok {
		all, err := r.Prunable(ctx, f)
		if limit == 0 {
			limit = len(all)
		}
		return all[:min(len(all), limit)], len(all), err
	}
	if n == 0 {
		return []Prunable{}, 0, nil
	}
	query := f.query()
	query.FirstEnded, query.Limit = true, min(limit, n)
	var apps []*Prunable
	err = r.History.Walk(ctx, query, func(a *history.App) error {
		apps = append(apps, &Prunable{View: *recordedView(a)})
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	if err := r.measure(ctx, apps, f.DeleteOptions); err != nil {
		return nil, 0, err
	}
	return deref(apps), n, nil
}

// query returns the filter of the history, without Keep.
func (f *PruneFilter) query() history.Filter {
	return history.Filter{States: f.States, Ended: true, EndedBefore: f.Before}
}

// knowsPrunable reports whether the history has all apps that may be removed, and no others: each
// backend that is elsewhere answers, and has no more.
func (r *Runner) knowsPrunable(ctx context.Context, f *PruneFilter) bool {
	if r.History == nil || f.MaxBytes >= 0 || f.Backend != "" {
		return false
	}
	for _, name := range r.Backends.Names() {
		can, err := r.Backends.Capabilities(name)
		if err == nil && can.RunsHere {
			continue
		}
		n, err := r.History.Count(ctx, history.Filter{Backend: name})
		if err == nil && n == 0 {
			continue
		}
		more, asked := r.onlyBackend(ctx, Filter{Backend: name, All: true})
		if err != nil || asked != nil || slices.ContainsFunc(more, func(w *history.View) bool { return !w.Foreign }) {
			return false
		}
	}
	return true
}

// countPrunable counts the apps of Prunable by indexes; false if the end of an app is unknown.
func (r *Runner) countPrunable(ctx context.Context, f *PruneFilter) (n int, ok bool, err error) {
	if _, _, err := r.current(ctx, Filter{All: true}); err != nil { // records the ends of apps that live
		return 0, false, err
	}
	count := func(q history.Filter) (n int) {
		if err == nil {
			n, err = r.History.Count(ctx, q)
		}
		return n
	}
	ended, known := count(history.Filter{States: history.TerminalStates()}), count(history.Filter{Ended: true})
	n = count(f.query())
	if f.Keep > 0 { // the newest of those that ended at any time
		n = min(n, max(0, count(history.Filter{States: f.States, Ended: true})-f.Keep))
	}
	return n, err == nil && ended == known, err
}
