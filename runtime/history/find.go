package history

import (
	"cmp"
	"time"

	"torchx/runtime/spec"
)

// Labels is what users note about an app. They may change it at any time.
type Labels struct {
	Tags map[string]string `json:"tags,omitempty"` // by key; "" is a tag without a value
	Note string            `json:"note,omitempty"`
}

// LabelChange changes the Labels of an app.
type LabelChange struct {
	Set    map[string]string // tags to add or replace
	Remove []string          // keys of tags; unknown ones are ignored
	Note   *string           // nil: the note stays
}

// Sort is an order of List.
type Sort int

// The orders of List. Apps without the value come last; equal ones are newest first.
const (
	SortSubmitted Sort = iota // newest first
	SortStarted               // last started first
	SortFinished              // last finished first
	SortDuration              // longest first
	SortState                 // in the order of spec.State
)

// Filter selects apps; its zero value selects all, newest first.
type Filter struct {
	Backend string       // "": all
	States  []spec.State // empty: all
	Since   time.Time    // submitted then or later; zero: all
	Until   time.Time    // submitted before; zero: all
	// Component and Name select apps of that component or name, which may be a Pattern. "": all.
	Component, Name string
	Parents         []string       // the ParentRunID is one of these; empty: all
	NoTrials        bool           // leave out trials of sweeps
	Tags            []TagFilter    // all must match
	Metrics         []MetricFilter // all must match
	Search          string         // words of the ID, name, component, arguments, tags or note, see FindWords; "": all
	Ended           bool           // only apps whose end is known
	EndedBefore     time.Time      // of these, before that time; zero: all
	FirstEnded      bool           // the order is that of their ends, first to last, instead of Sort; needs Ended
	Sort            Sort
	SortMetric      *MetricSort // instead of Sort, and selects apps that have the metric
	Limit           int         // at most so many, the first after Offset; 0: all
	Offset          int         // leaves out so many of the first
	Values          bool        // also read App.Args and App.Metrics
	Details         bool        // also read App, Cfg and Source, of which only Component is set without it
}

// TagFilter selects apps that have a tag.
type TagFilter struct {
	Key   string
	Value *string // nil: any
}

// MetricSort is an order by a value of the main series of a name, or by an argument as in
// MetricFilter; NaN and what is not set are last.
type MetricSort struct {
	Name       string
	Stat       Stat
	Descending bool
}

// Compare orders two values; nil is NaN.
func (m *MetricSort) Compare(a, b *float64) int {
	switch {
	case a == nil || b == nil:
		return cmp.Compare(boolInt(a == nil), boolInt(b == nil))
	case m.Descending:
		return cmp.Compare(*b, *a)
	}
	return cmp.Compare(*a, *b)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
