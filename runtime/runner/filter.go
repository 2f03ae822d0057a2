package runner

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// DefaultLimit is the number of apps that List returns by default.
const DefaultLimit = 50

// Filter selects the apps of List; its zero value selects the newest DefaultLimit apps.
type Filter struct {
	Backend string       // name or alias; "": the history of all. If set, also apps missing in the history
	States  []spec.State // empty: all, unless Queued
	Queued  bool         // also apps in the queue of this machine; only these without States
	Since   time.Time    // submitted at that time or later; zero: all
	Until   time.Time    // submitted before; zero: all
	// Component, Name, Parents, Tags and Search select apps as in history.Filter.
	Component, Name string
	Parents         []string
	NoTrials        bool // leave out trials of sweeps
	Tags            []history.TagFilter
	Search          string
	Sort            history.Sort
	// Metrics and SortMetric select apps by what they have reported, as in history.Filter.
	Metrics    []history.MetricFilter
	SortMetric *history.MetricSort
	Limit      int  // maximum number; 0: DefaultLimit
	Offset     int  // leaves out so many of the first
	All        bool // no limit
	Recorded   bool // only apps of the history, if there is one
	Values     bool // as in history.Filter
}

// isSettled reports whether a new state neither moves an app in the list nor removes it.
func (f *Filter) isSettled() bool {
	return !f.Queued && f.Sort == history.SortSubmitted && f.SortMetric == nil && len(f.States) == 0
}

// asksBackend reports whether the list has apps that only the backend knows.
func (f *Filter) asksBackend() bool { return f.Backend != "" && !f.Recorded }

// query returns the filter of the history, without a limit. An app's message tells whether it is
// queued, so the history returns all pending ones.
func (f *Filter) query() history.Filter {
	states := slices.Clone(f.States)
	if f.Queued {
		states = append(states, spec.Pending)
	}
	return history.Filter{
		Backend: f.Backend, States: states, Since: f.Since, Until: f.Until, Component: f.Component, Name: f.Name,
		Parents: f.Parents, Tags: f.Tags, Search: f.Search, Sort: f.Sort, Metrics: f.Metrics, SortMetric: f.SortMetric,
		NoTrials: f.NoTrials, Values: f.Values,
	}
}

// matchesState reports whether a row, whose state is current, has a selected state and time.
func (f *Filter) matchesState(w *history.View) bool {
	if len(f.States) > 0 || f.Queued {
		queued := f.Queued && w.State == spec.Pending && strings.HasPrefix(w.Msg, spec.QueuedMark)
		if !queued && !slices.Contains(f.States, w.State) {
			return false
		}
	}
	if f.Since.IsZero() && f.Until.IsZero() {
		return true
	}
	at := w.SubmittedAt
	return at != nil && !at.Before(f.Since) && (f.Until.IsZero() || at.Before(f.Until))
}

// matchesRest reports whether a row that the history does not have matches the conditions that
// are independent of its state.
func (f *Filter) matchesRest(w *history.View) bool {
	if len(f.Metrics) > 0 || f.SortMetric != nil {
		return false // only the history has metrics
	}
	for _, t := range f.Tags {
		if value, ok := w.Tags[t.Key]; !ok || t.Value != nil && value != *t.Value {
			return false
		}
	}
	if f.leavesOut(w) {
		return false
	}
	words := []string{w.ID, w.Name, w.Component, w.Note}
	words = append(words, w.Args...)
	for key, value := range w.Tags {
		words = append(words, key, value)
	}
	return fits(f.Component, w.Component) && fits(f.Name, w.Name) &&
		(len(f.Parents) == 0 || slices.Contains(f.Parents, w.ParentRunID)) &&
		history.FindWords(strings.Join(words, " "), f.Search)
}

// leavesOut reports whether a row is a trial that the filter leaves out.
func (f *Filter) leavesOut(w *history.View) bool {
	return f.NoTrials && w.ParentRunID != "" && w.Tags[sweep.SweepTag] == w.ParentRunID
}

// fits reports whether a text matches a pattern; "" matches all.
func fits(pattern, text string) bool {
	if !strings.ContainsAny(pattern, history.PatternChars) {
		return pattern == "" || pattern == text
	}
	re, err := history.Pattern(pattern)
	return err == nil && re.MatchString(text)
}

// compare orders rows as f.Sort says. Unknown values come last, equal ones are newest first.
func (f *Filter) compare(a, b *history.View, now time.Time) int {
	c := 0
	if f.SortMetric != nil {
		return cmp.Or(f.SortMetric.Compare(a.SortValue, b.SortValue),
			latest(a.SubmittedAt, b.SubmittedAt))
	}
	switch f.Sort {
	case history.SortStarted:
		c = latest(a.StartedAt, b.StartedAt)
	case history.SortFinished:
		c = latest(a.FinishedAt, b.FinishedAt)
	case history.SortDuration:
		x, y := a.Duration(now), b.Duration(now)
		c = known(x == nil, y == nil)
		if x != nil && y != nil {
			c = cmp.Compare(*y, *x)
		}
	case history.SortState:
		c = cmp.Compare(a.State, b.State)
	}
	return cmp.Or(c, latest(a.SubmittedAt, b.SubmittedAt))
}

func latest(a, b *time.Time) int {
	if a == nil || b == nil {
		return known(a == nil, b == nil)
	}
	return b.Compare(*a)
}

// known orders unknown values last.
func known(aUnknown, bUnknown bool) int { return boolInt(aUnknown) - boolInt(bUnknown) }

// ParentIDs returns the values of ParentRunID that name the parent run text: the text itself, and
// if it is an app, its handle and ID. Errors: only for "-" without an app.
func (r *Runner) ParentIDs(ctx context.Context, text string) ([]string, error) {
	ids := []string{text}
	var key history.AppKey
	if h, err := spec.ParseHandle(text); err == nil {
		key = history.AppKey{Backend: h.Backend, ID: h.AppID}
		if alias, err := r.Backends.Canonical(h.Backend); err == nil {
			key.Backend = alias.Backend
		}
	} else if text == lastApp {
		if key, err = r.mostRecent(ctx); err != nil {
			return nil, err
		}
	} else if found, err := r.matches(ctx, text); err == nil && len(found) == 1 {
		key = found[0]
	}
	if key.ID != "" {
		ids = append(ids, key.ID, key.Handle())
	}
	return slices.Compact(slices.Sorted(slices.Values(ids))), nil
}
