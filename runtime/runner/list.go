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

// DefaultLimit is how many apps List returns unless told otherwise.
const DefaultLimit = 50

// Bounds of what List asks backends for.
const (
	maxLooks    = 1000            // apps looked at in one List; the older ones keep what was last seen
	parallel    = 8               // looks at a time
	lookTimeout = 5 * time.Second // for one app: a backend that hangs must not stop the list
)

// Filter selects the apps of List; its zero value is the newest DefaultLimit ones.
type Filter struct {
	Backend string       // name or alias; "": the history of all. With it, also what only the backend knows
	States  []spec.State // empty: all
	Since   time.Time    // submitted then or later; zero: all
	Limit   int          // at most so many; 0: DefaultLimit
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

	recorded bool // the history has it
}

func (w *Row) ref() history.AppKey { return history.AppKey{Backend: w.Backend, ID: w.AppID} }

// update takes over what was seen of the app.
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

// List returns apps, newest first. Those that are not known to have ended are
// looked up at their backend; where that is not to be had, they are as last seen
// and there is a warning. Errors: backends.ErrNotFound (backend), and
// backends.ErrUnavailable, with what the history knows, if a backend was named and
// cannot be asked.
func (r *Runner) List(ctx context.Context, f Filter) ([]Row, error) {
	if f.Backend != "" {
		alias, err := r.Backends.Canonical(f.Backend)
		if err != nil {
			return nil, err
		}
		f.Backend = alias.Backend
	}
	if names := r.Backends.Names(); f.Backend == "" && r.History == nil && len(names) > 0 {
		f.Backend = names[0] // without a history, what is on this machine
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
	looker := *r
	if err != nil {
		looker.Warn = func(string) {} // the error says it
	}
	looker.refresh(ctx, rows)
	return f.apply(rows), err
}

// history are the rows of the history that may come into the list. A state that
// was asked for may be reached only once an app is looked at, so with States all
// live apps are candidates.
func (r *Runner) history(ctx context.Context, f Filter) ([]*Row, error) {
	if r.History == nil {
		return nil, nil
	}
	query := history.Filter{Backend: f.Backend, States: f.States, Since: f.Since, Limit: f.Limit}
	apps, err := r.History.List(ctx, query)
	if err == nil && len(f.States) > 0 {
		query.States, query.Limit = history.LiveStates(), maxLooks
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

// onlyBackend are the apps that the backend knows and the history does not.
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

// recorded adds the apps of the history that the list leaves out by its limit or filter.
func (r *Runner) recorded(ctx context.Context, backendName string, listed map[string]bool) {
	if r.History == nil {
		return
	}
	apps, err := r.History.List(ctx, history.Filter{Backend: backendName})
	if err != nil {
		return // said before, by history
	}
	for i := range apps {
		listed[apps[i].ID] = true
	}
}

// refresh looks at the apps that may have changed since they were last seen, and
// at those that only their backend knows, for what its list did not tell.
func (r *Runner) refresh(ctx context.Context, rows []*Row) {
	var looks []*Row
	for _, row := range rows {
		_, err := r.Backends.Get(row.Backend) // opened here: the registry has no lock
		told := row.recorded || row.SubmittedAt != nil && row.ExitCode != nil
		if err == nil && (!row.State.Terminal() || !told) && len(looks) < maxLooks {
			looks = append(looks, row)
		}
	}
	w := &warnOnce{seen: map[string]bool{}, warn: r.warn}
	g := new(errgroup.Group)
	g.SetLimit(parallel)
	for _, row := range looks {
		g.Go(func() error {
			r.refreshRow(ctx, row, w)
			return nil
		})
	}
	_ = g.Wait() // none returns an error
}

func (r *Runner) refreshRow(ctx context.Context, row *Row, w *warnOnce) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	quiet := *r // its warnings go through w: goroutines share it
	quiet.Warn = func(line string) { w.add(line, line) }
	s, err := quiet.Status(ctx, row.ref())
	switch {
	case err == nil:
		row.update(s)
	case errors.Is(err, backend.ErrNotFound): // deleted since; its row goes with the next list
	default:
		w.add(row.Backend, "states of "+row.Backend+" apps are as last seen: "+err.Error())
	}
}

// warnOnce drops repeated warnings and may be used by several goroutines.
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

// apply sorts, filters and cuts rows.
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
