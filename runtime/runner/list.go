package runner

import (
	"cmp"
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

// DefaultLimit is the number of apps that List returns by default.
const DefaultLimit = 50

// Bounds of the queries that List sends to backends.
const (
	maxQueries   = 1000            // apps queried by one List; older ones keep their recorded state
	parallel     = 8               // concurrent queries
	queryTimeout = 5 * time.Second // for one app: a backend that hangs must not stop the list
)

// Filter selects the apps of List; its zero value selects the newest DefaultLimit apps.
type Filter struct {
	Backend string       // name or alias; "": the history of all. If set, also apps missing in the history
	States  []spec.State // empty: all
	Since   time.Time    // submitted at that time or later; zero: all
	Limit   int          // maximum number; 0: DefaultLimit
	All     bool         // no limit
}

// Row is one app of List. Unknown texts are "", unknown times and codes nil.
type Row struct {
	Handle      string
	AppID       string
	Name        string
	Backend     string
	State       spec.State
	Component   string
	SubmittedAt *time.Time
	StartedAt   *time.Time
	FinishedAt  *time.Time
	ExitCode    *int
	NumRestarts int
	Msg         string // why it is in this state; "" for no particular reason
	Foreign     bool   // started by another program or TORCHX_HOME

	recorded bool // present in the history
}

func (w *Row) ref() history.AppKey { return history.AppKey{Backend: w.Backend, ID: w.AppID} }

// update applies the app's current status.
func (w *Row) update(s *spec.Status) {
	w.State, w.StartedAt, w.FinishedAt, w.ExitCode, w.NumRestarts, w.Msg = s.State, s.StartedAt, s.FinishedAt, s.ExitCode, s.NumRestarts, s.Msg
	if w.SubmittedAt == nil {
		w.SubmittedAt = s.SubmittedAt
	}
}

func rowOf(a *history.App) *Row {
	ref := a.AppKey
	return &Row{
		Handle: ref.Handle(), AppID: a.ID, Name: a.Name, Backend: a.Backend, State: a.State, Component: a.Component,
		SubmittedAt: &a.SubmittedAt, StartedAt: a.StartedAt, FinishedAt: a.FinishedAt, ExitCode: a.ExitCode, NumRestarts: a.NumRestarts, Msg: a.Msg, recorded: true,
	}
}

// List returns apps, newest first. It queries backends for apps that may have changed. If
// a backend is unavailable, its apps keep their recorded state and List warns; if
// f.Backend names it, List returns them with backend.ErrUnavailable. Errors also:
// backend.ErrNotFound for an unknown backend.
func (r *Runner) List(ctx context.Context, f Filter) ([]Row, error) {
	if f.Backend != "" {
		alias, err := r.Backends.Canonical(f.Backend)
		if err != nil {
			return nil, err
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
	rows, err := r.history(ctx, f)
	if err != nil {
		return nil, err
	}
	if f.Backend == "" {
		r.refresh(ctx, rows)
		return f.apply(rows), nil
	}
	extra, err := r.onlyBackend(ctx, f, rows)
	if err != nil && !errors.Is(err, backend.ErrUnavailable) {
		return nil, err
	}
	rows = append(rows, extra...)
	querier := *r
	if err != nil {
		querier.Warn = func(string) {} // the error tells it
	}
	querier.refresh(ctx, rows)
	return f.apply(rows), err
}

// history returns the apps of the history that may belong to the list. An app's state may
// have changed since it was recorded, so with f.States all live apps are candidates.
func (r *Runner) history(ctx context.Context, f Filter) ([]*Row, error) {
	if r.History == nil {
		return nil, nil
	}
	query := history.Filter{Backend: f.Backend, States: f.States, Since: f.Since, Limit: f.Limit}
	apps, err := r.History.List(ctx, query)
	if err == nil && len(f.States) > 0 {
		query.States, query.Limit = history.LiveStates(), maxQueries
		var live []history.App
		live, err = r.History.List(ctx, query)
		apps = append(apps, live...)
	}
	if err != nil {
		if f.Backend == "" || ctx.Err() != nil {
			return nil, err
		}
		r.warn("%v", err)
	}
	var rows []*Row
	seen := map[history.AppKey]bool{}
	for i := range apps {
		row := rowOf(&apps[i])
		if !seen[row.ref()] {
			seen[row.ref()] = true
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// onlyBackend returns the apps that the backend has and the history does not.
func (r *Runner) onlyBackend(ctx context.Context, f Filter, rows []*Row) ([]*Row, error) {
	b, err := r.Backends.Get(f.Backend)
	if err != nil {
		return nil, err
	}
	apps, err := b.List(ctx)
	if err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	for _, row := range rows {
		listed[row.AppID] = true
	}
	if slices.ContainsFunc(apps, func(a spec.Summary) bool { return !listed[a.ID] }) {
		r.recorded(ctx, f.Backend, listed)
	}
	var extra []*Row
	for _, a := range apps {
		if ref := (history.AppKey{Backend: f.Backend, ID: a.ID}); !listed[a.ID] {
			extra = append(extra, &Row{
				Handle: ref.Handle(), AppID: a.ID, Name: a.Name, Backend: f.Backend, State: a.State, Foreign: a.Foreign,
				SubmittedAt: a.SubmittedAt, FinishedAt: a.FinishedAt, ExitCode: a.ExitCode,
			})
		}
	}
	return extra, nil
}

// recorded adds the apps of the history that the list omits by its limit or filter.
func (r *Runner) recorded(ctx context.Context, backendName string, listed map[string]bool) {
	if r.History == nil {
		return
	}
	apps, err := r.History.List(ctx, history.Filter{Backend: backendName})
	if err != nil {
		return // history has warned already
	}
	for i := range apps {
		listed[apps[i].ID] = true
	}
}

// refresh queries the apps that may have changed since they were recorded, and those that
// only their backend has if its list omitted details.
func (r *Runner) refresh(ctx context.Context, rows []*Row) {
	var queries []*Row
	for _, row := range rows {
		_, err := r.Backends.Get(row.Backend) // opened here: the registry has no lock
		complete := row.recorded || row.SubmittedAt != nil && row.ExitCode != nil
		if err == nil && (!row.State.Terminal() || !complete) && len(queries) < maxQueries {
			queries = append(queries, row)
		}
	}
	w := &warnOnce{seen: map[string]bool{}, warn: r.warn}
	g := new(errgroup.Group)
	g.SetLimit(parallel)
	for _, row := range queries {
		g.Go(func() error {
			r.refreshRow(ctx, row, w)
			return nil
		})
	}
	_ = g.Wait() // the functions return no errors
}

func (r *Runner) refreshRow(ctx context.Context, row *Row, w *warnOnce) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	quiet := *r // goroutines share w, which drops repeated warnings
	quiet.Warn = func(line string) { w.add(line, line) }
	s, err := quiet.Status(ctx, row.ref())
	switch {
	case err == nil:
		row.update(s)
	case errors.Is(err, backend.ErrNotFound): // deleted since; the next list omits it
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

// apply sorts, filters and limits rows.
func (f *Filter) apply(rows []*Row) []Row {
	slices.SortStableFunc(rows, func(a, b *Row) int {
		switch {
		case a.SubmittedAt == nil || b.SubmittedAt == nil:
			// Unknown times go last.
			return cmp.Compare(boolInt(a.SubmittedAt == nil), boolInt(b.SubmittedAt == nil))
		default:
			return b.SubmittedAt.Compare(*a.SubmittedAt)
		}
	})
	kept := []Row{}
	for _, row := range rows {
		switch {
		case f.Limit > 0 && len(kept) == f.Limit:
			return kept
		case len(f.States) > 0 && !slices.Contains(f.States, row.State):
		case !f.Since.IsZero() && (row.SubmittedAt == nil || row.SubmittedAt.Before(f.Since)):
		default:
			kept = append(kept, *row)
		}
	}
	return kept
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
