package runner

import (
	"context"
	"slices"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// isPage reports whether the history alone knows which apps a part of the list has, so that those
// before it need not be read.
func (r *Runner) isPage(f *Filter) bool {
	if r.History == nil || f.Limit == 0 || f.Offset == 0 || f.asksBackend() {
		return false
	}
	return f.isSettled()
}

// isRecorded reports whether the apps that the history selects are those of the list, of which live
// ones are none.
func (f *Filter) isRecorded(live map[history.AppKey]bool) bool {
	if f.Queued {
		return false
	}
	ended := len(f.States) > 0 && !slices.ContainsFunc(f.States, func(s spec.State) bool { return !s.Terminal() })
	return ended || len(live) == 0
}

// walkPage visits the apps of a part of the list.
func (r *Runner) walkPage(ctx context.Context, f Filter, visit func(*history.View) error) error {
	query := f.query()
	query.Limit, query.Offset = f.Limit, f.Offset
	var rows, live []*history.View
	err := r.History.Walk(ctx, query, func(a *history.App) error {
		w := recordedView(a)
		if rows = append(rows, w); !w.State.Terminal() {
			live = append(live, w)
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.refresh(ctx, live)
	for _, w := range rows {
		if err := visit(w); err != nil {
			return err
		}
	}
	return nil
}

// Count returns the number of apps that List returns without a limit. Errors: as List.
func (r *Runner) Count(ctx context.Context, f Filter) (n int, err error) {
	f.All, f.Offset = true, 0
	if err := r.complete(&f); err != nil {
		return 0, err
	}
	exact := r.History != nil && !f.Queued // no condition that only a row shows
	if exact && !f.asksBackend() && len(f.States) == 0 {
		return r.History.Count(ctx, f.query())
	}
	live, unavailable, err := r.current(ctx, f)
	if err != nil {
		return 0, err
	}
	one := func(*history.View) error {
		n++
		return nil
	}
	if !exact {
		f.Sort, f.SortMetric = history.SortSubmitted, nil
		if err := r.merge(ctx, f, live, one); err != nil {
			return 0, err
		}
		return n, unavailable
	}
	query := f.query()
	if query.States = slices.DeleteFunc(statesOr(f.States), func(s spec.State) bool { return !s.Terminal() }); len(query.States) > 0 {
		if n, err = r.History.Count(ctx, query); err != nil {
			return 0, err
		}
	}
	for _, w := range live {
		if f.matchesState(w) {
			n++
		}
	}
	return n, unavailable
}

// statesOr returns the states of a filter, all if it names none.
func statesOr(states []spec.State) []spec.State {
	if len(states) == 0 {
		return append(history.LiveStates(), history.TerminalStates()...)
	}
	return slices.Clone(states)
}
