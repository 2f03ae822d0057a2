package runner

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Bounds of the queries that List sends to backends.
const (
	maxQueries   = 1000            // apps queried by one List; older ones keep their recorded state
	parallel     = 8               // concurrent queries
	queryTimeout = 5 * time.Second // for one app: a backend that hangs must not stop the list
	batchTimeout = time.Minute     // for all apps of a backend.BatchDescriber
)

// recordedView returns the view of a recorded app.
func recordedView(a *history.App) *history.View { return &history.View{App: *a, Recorded: true} }

// View returns one app as List does. Errors: those of Status.
func (r *Runner) View(ctx context.Context, ref history.AppKey) (history.View, error) {
	s, err := r.Status(ctx, ref)
	if err != nil {
		return history.View{}, err
	}
	v := &history.View{App: history.App{AppKey: ref}}
	if recorded := r.row(ctx, ref); recorded != nil {
		v = recordedView(recorded)
	}
	v.Update(s)
	return *v, nil
}

// List returns apps in the order of f. It queries backends for apps that may have changed. If
// a backend is unavailable, its apps keep their recorded state and List warns; if
// f.Backend names it, List returns them with backend.ErrUnavailable. Errors also:
// backend.ErrNotFound for an unknown backend.
func (r *Runner) List(ctx context.Context, f Filter) ([]history.View, error) {
	rows := []history.View{}
	err := r.Walk(ctx, f, func(w *history.View) error {
		rows = append(rows, *w)
		return nil
	})
	if err != nil && !errors.Is(err, backend.ErrUnavailable) {
		return nil, err
	}
	return rows, err
}

// Walk calls visit for each app that List returns, and holds only those that live. visit must
// not use the runner. Walk returns visit's error.
func (r *Runner) Walk(ctx context.Context, f Filter, visit func(*history.View) error) error {
	if err := r.complete(&f); err != nil {
		return err
	}
	if f.SortMetric != nil {
		r.collectLate(ctx, f)
	}
	if r.isPage(&f) {
		return r.walkPage(ctx, f, visit)
	}
	live, unavailable, err := r.current(ctx, f)
	if err != nil {
		return err
	}
	if err := r.merge(ctx, f, live, visit); err != nil {
		return err
	}
	return unavailable
}

// complete sets what a filter leaves to the runner.
func (r *Runner) complete(f *Filter) error {
	if f.Backend != "" {
		alias, err := r.Backends.Canonical(f.Backend)
		if err != nil {
			return err
		}
		f.Backend = alias.Backend
	}
	if names := r.Backends.Names(); f.Backend == "" && r.History == nil && len(names) > 0 {
		f.Backend = names[0] // without a history, list the apps of this machine
	}
	if f.Limit <= 0 {
		f.Limit = DefaultLimit
	}
	if f.All {
		f.Limit = 0
	}
	return nil
}

// current returns the apps that may have changed since they were recorded, and those that only the
// backend has, as they are now. unavailable is the error of a backend that does not answer.
func (r *Runner) current(
	ctx context.Context, f Filter,
) (rows []*history.View, unavailable, err error) {
	if rows, err = r.live(ctx, f); err != nil {
		return nil, nil, err
	}
	querier := *r
	if f.asksBackend() || r.History == nil && f.Backend != "" {
		extra, err := r.onlyBackend(ctx, f)
		if err != nil && !errors.Is(err, backend.ErrUnavailable) {
			return nil, nil, err
		}
		if rows = append(rows, extra...); err != nil {
			unavailable, querier.Warn = err, func(string) {} // the error tells it
		}
	}
	querier.refresh(ctx, rows)
	return rows, unavailable, nil
}

// live returns the recorded apps that may have changed since, and whose new state may put them
// into the list.
func (r *Runner) live(ctx context.Context, f Filter) (rows []*history.View, err error) {
	if r.History == nil {
		return nil, nil
	}
	query := f.query()
	switch {
	case f.Limit == 0:
	case f.isSettled():
		query.Limit = f.Limit + f.Offset
	default:
		query.Limit = max(f.Limit+f.Offset, maxQueries)
	}
	query.States, query.Sort = history.LiveStates(), history.SortSubmitted
	err = r.History.Walk(ctx, query, func(a *history.App) error {
		rows = append(rows, recordedView(a))
		return nil
	})
	return rows, r.historyError(ctx, f, err)
}

// historyError returns nil after a warning if a backend can be listed without the history.
func (r *Runner) historyError(ctx context.Context, f Filter, err error) error {
	if err == nil || f.Backend == "" || ctx.Err() != nil {
		return err
	}
	r.warn("%v", err)
	return nil
}

// onlyBackend returns the apps that the backend has and the history does not.
func (r *Runner) onlyBackend(ctx context.Context, f Filter) ([]*history.View, error) {
	b, err := r.Backends.Get(f.Backend)
	if err != nil {
		return nil, err
	}
	apps, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	recorded := map[string]bool{}
	if r.History != nil && len(apps) > 0 {
		ids := make([]string, len(apps))
		for i := range apps {
			ids[i] = apps[i].ID
		}
		if known, err := r.History.Known(ctx, f.Backend, ids); err == nil { // else live has warned
			recorded = known
		}
	}
	var extra []*history.View
	for i := range apps {
		v := &apps[i]
		if v.Backend = f.Backend; !recorded[v.ID] && f.matchesRest(v) {
			extra = append(extra, v)
		}
	}
	return extra, nil
}

// errEnough ends a walk whose limit is reached.
var errEnough = errors.New("limit reached")

// merge visits the apps of live and the others of the history in the order of f.
func (r *Runner) merge(
	ctx context.Context, f Filter, live []*history.View, visit func(*history.View) error,
) error {
	now, left, passed := r.now(), f.Limit, 0
	skip := map[history.AppKey]bool{}
	for _, w := range live {
		skip[w.AppKey] = true
	}
	live = slices.DeleteFunc(live, func(w *history.View) bool { return !f.matchesState(w) })
	slices.SortStableFunc(live, func(a, b *history.View) int { return f.compare(a, b, now) })
	query := f.query()
	switch {
	case len(live) == 0 && f.isRecorded(skip): // the history leaves out what precedes the part
		query.Offset, passed = f.Offset, f.Offset
		query.Limit = f.Limit
	case f.Limit > 0:
		query.Limit = f.Limit + f.Offset + len(skip)
	}
	add := func(w *history.View) error {
		if passed++; passed <= f.Offset {
			return nil
		}
		if err := visit(w); err != nil {
			return err
		}
		if left--; left == 0 {
			return errEnough
		}
		return nil
	}
	err := r.others(ctx, f, query, skip, func(w *history.View) error {
		for len(live) > 0 && f.compare(live[0], w, now) <= 0 {
			first := live[0]
			live = live[1:]
			if err := add(first); err != nil {
				return err
			}
		}
		return add(w)
	})
	for _, w := range live {
		if err == nil {
			err = add(w)
		}
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// others visits the apps of the history that are not to be skipped.
func (r *Runner) others(ctx context.Context, f Filter, query history.Filter,
	skip map[history.AppKey]bool, visit func(*history.View) error,
) error {
	if r.History == nil {
		return nil
	}
	var stopped error
	err := r.History.Walk(ctx, query, func(a *history.App) error {
		if w := recordedView(a); !skip[a.AppKey] && f.matchesState(w) {
			stopped = visit(w)
		}
		return stopped
	})
	if stopped != nil {
		return stopped
	}
	return r.historyError(ctx, f, err)
}

// refresh queries the apps that may have changed since they were recorded, and those that
// only their backend has if its list omitted details.
func (r *Runner) refresh(ctx context.Context, rows []*history.View) {
	outdated := map[string][]*history.View{} // by backend
	for _, row := range rows {
		complete := row.Recorded || row.SubmittedAt != nil && row.ExitCode != nil
		if !row.State.Terminal() || !complete {
			outdated[row.Backend] = append(outdated[row.Backend], row)
		}
	}
	w := &warnOnce{seen: map[string]bool{}, warn: r.warn}
	quiet := *r // goroutines share w, which drops repeated warnings
	quiet.Warn = func(line string) { w.add(line, line) }
	g := new(errgroup.Group)
	g.SetLimit(parallel)
	queries := 0
	for name, rows := range outdated {
		b, err := r.Backends.Get(name) // opened here: the registry has no lock
		if err != nil {
			continue
		}
		if batch := b.Capabilities().Batch; batch != nil && len(rows) > 1 {
			g.Go(func() error {
				quiet.refreshAll(ctx, b, batch, rows, w)
				return nil
			})
			continue
		}
		for _, row := range rows[:min(len(rows), maxQueries-queries)] {
			queries++
			g.Go(func() error {
				quiet.refreshRow(ctx, row, w)
				return nil
			})
		}
	}
	_ = g.Wait() // the functions return no errors
}

// refreshAll updates the rows of one backend.
func (r *Runner) refreshAll(ctx context.Context, b backend.Backend, batch backend.BatchDescriber,
	rows []*history.View, w *warnOnce,
) {
	ctx, cancel := context.WithTimeout(ctx, batchTimeout)
	defer cancel()
	recorded := map[string]*history.App{} // as before the query
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i], recorded[row.ID] = row.ID, r.row(ctx, row.AppKey)
	}
	statuses, err := batch.DescribeAll(ctx, ids)
	for _, row := range rows {
		s, isRead := statuses[row.ID]
		ref, cause := row.AppKey, error(nil)
		switch known := recorded[row.ID]; {
		case s != nil:
			s = r.recordStatus(ctx, ref, known, s)
		case err != nil && !isRead:
			s, cause = r.recordedResult(ctx, ref, err), err
		case known != nil:
			s, cause = r.lastKnownStatus(ctx, b, ref, known)
		}
		r.applyStatus(row, s, cause, w)
	}
}

func (r *Runner) refreshRow(ctx context.Context, row *history.View, w *warnOnce) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	s, err := r.Status(ctx, row.AppKey)
	r.applyStatus(row, s, err, w)
}

// applyStatus updates a row, or warns that it may be outdated because of err.
func (r *Runner) applyStatus(row *history.View, s *spec.Status, err error, w *warnOnce) {
	switch {
	case s != nil:
		row.Update(s)
	case err == nil, errors.Is(err, backend.ErrNotFound): // deleted since; the next list omits it
	default:
		w.add(row.Backend, "states of "+row.Backend+" apps may be outdated: "+err.Error())
	}
}

// warnOnce drops repeated warnings. It is safe for concurrent use.
type warnOnce struct {
	mu   sync.Mutex
	seen map[string]bool
	warn func(format string, args ...any)
}

func (w *warnOnce) add(key, line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.seen[key] {
		w.seen[key] = true
		w.warn("%s", line)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
