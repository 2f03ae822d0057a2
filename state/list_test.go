package state

import (
	"cmp"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
	"torchx/test/long"
)

// randomApp returns an app with values that many apps share.
func randomApp(r *rand.Rand, i int) history.App {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	a := history.App{
		AppKey:      history.AppKey{Backend: pick("local", "docker"), ID: fmt.Sprintf("app-%d", i)},
		Name:        pick("train", "eval", "trainer"),
		Source:      history.Source{Component: pick("dist.ddp", "utils.echo", "a.star:f"), Args: []string{"--lr", pick("0.1", "0.01")}, ParentRunID: pick("", "", "exp-1", "exp-2")},
		Outcome:     history.Outcome{State: spec.State(r.IntN(8))},
		SubmittedAt: new(clock.Add(time.Duration(r.IntN(100)) * time.Second)),
	}
	if r.IntN(3) > 0 {
		a.Tags = map[string]string{"team": pick("vision", "speech"), pick("gpu", "cpu"): ""}
	}
	if a.ParentRunID != "" && r.IntN(2) == 0 {
		if a.Tags == nil {
			a.Tags = map[string]string{}
		}
		a.Tags[sweep.SweepTag] = a.ParentRunID
	}
	if r.IntN(3) == 0 {
		a.Note = pick("baseline run", "looks overfit")
	}
	if r.IntN(4) > 0 {
		started := a.SubmittedAt.Add(time.Duration(r.IntN(10)) * time.Second)
		a.StartedAt = &started
		if a.State.Terminal() {
			finished := started.Add(time.Duration(r.IntN(1000)) * time.Second)
			a.FinishedAt = &finished
		}
	}
	return a
}

func randomFilter(r *rand.Rand) (f history.Filter) {
	some := func() bool { return r.IntN(4) == 0 }
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	if some() {
		f.Backend = "docker"
	}
	if some() {
		f.States = []spec.State{spec.Failed, spec.State(r.IntN(8))}
	}
	if some() {
		f.Since = clock.Add(30 * time.Second)
	}
	if some() {
		f.Until = clock.Add(60 * time.Second)
	}
	if some() {
		f.Component = pick("dist.ddp", "dist.*", "*.star:*", "none")
	}
	if some() {
		f.Name = pick("train", "train*", "?val", "none*")
	}
	if some() {
		f.Parents = []string{"exp-1", "none"}
	}
	if some() {
		vision := "vision"
		f.Tags = []history.TagFilter{{Key: "team", Value: &vision}, {Key: pick("gpu", "team")}}
	}
	f.NoTrials = some()
	if some() {
		f.Search = pick("over*", "over", "LR 0.1", "vision", `"train" dist`, "--", "base* run", "0.0*")
	}
	f.Sort = history.Sort(r.IntN(5))
	if some() {
		ops := []history.Operator{history.Less, history.LessOrEqual, history.Greater, history.GreaterOrEqual, history.Equal, history.NotEqual}
		f.Metrics = []history.MetricFilter{{Name: "loss", Stat: history.StatMin, Op: ops[r.IntN(len(ops))], Value: 0.5}}
	}
	if some() {
		f.SortMetric = &history.MetricSort{Name: pick("loss", "acc"), Stat: history.StatLast, Descending: r.IntN(2) == 0}
	}
	f.Limit, f.Offset = r.IntN(30), r.IntN(3)*r.IntN(40)
	return f
}

// randomMetrics returns metrics of few different values, some of them NaN.
func randomMetrics(r *rand.Rand) (all []history.Metric) {
	for _, name := range []string{"loss", "acc"} {
		if r.IntN(3) == 0 {
			continue
		}
		v := []float64{0.25, 0.5, 0.75, math.NaN(), math.Inf(1)}[r.IntN(5)]
		all = append(all, history.Metric{Role: "r", Name: name, Count: 1, First: v, Last: v, Min: v, Max: v, Main: true},
			history.Metric{Role: "r", Replica: 1, Name: name, Count: 1, Last: 0.1, Min: 0.1, Max: 0.1})
	}
	return all
}

// valueOf returns the last value of a metric, which all have as their minimum too; nil: none.
func valueOf(all []history.Metric, name string, _ history.Stat) *float64 {
	for i := range all {
		if all[i].Name == name && all[i].Main && !math.IsNaN(all[i].Last) {
			return &all[i].Last
		}
	}
	return nil
}

func matchesMetrics(f *history.Filter, all []history.Metric) bool {
	for _, m := range f.Metrics {
		v := valueOf(all, m.Name, m.Stat)
		if v == nil {
			return false
		}
		ok := map[history.Operator]bool{
			history.Less: *v < m.Value, history.LessOrEqual: *v <= m.Value, history.Greater: *v > m.Value,
			history.GreaterOrEqual: *v >= m.Value, history.Equal: *v == m.Value, history.NotEqual: *v != m.Value,
		}
		if !ok[m.Op] {
			return false
		}
	}
	return f.SortMetric == nil || slices.ContainsFunc(all, func(m history.Metric) bool { return m.Name == f.SortMetric.Name })
}

// matches is what Filter says, without a database.
func matches(f *history.Filter, a *history.App) bool {
	glob := func(pattern, name string) bool {
		ok, _ := path.Match(pattern, name)
		return pattern == "" || ok
	}
	if f.NoTrials && a.ParentRunID != "" && a.Tags[sweep.SweepTag] == a.ParentRunID {
		return false
	}
	for _, t := range f.Tags {
		if value, ok := a.Tags[t.Key]; !ok || t.Value != nil && value != *t.Value {
			return false
		}
	}
	text := strings.Join(append([]string{a.ID, a.Name, a.Component, a.Note}, a.Args...), " ")
	for key, value := range a.Tags {
		text += " " + key + " " + value
	}
	if !history.FindWords(text, f.Search) {
		return false
	}
	return (f.Backend == "" || a.Backend == f.Backend) && (len(f.States) == 0 || slices.Contains(f.States, a.State)) &&
		(f.Since.IsZero() || !a.SubmittedAt.Before(f.Since)) && (f.Until.IsZero() || a.SubmittedAt.Before(f.Until)) &&
		glob(f.Component, a.Component) && glob(f.Name, a.Name) && (len(f.Parents) == 0 || slices.Contains(f.Parents, a.ParentRunID))
}

// less is the order that Sort says; seq is the number of the app's record.
func less(s history.Sort, a, b history.App) int {
	last := func(a, b *time.Time) int { // those without a time come last
		switch {
		case a == nil || b == nil:
			return cmp.Compare(toInt(a == nil), toInt(b == nil))
		}
		return b.Compare(*a)
	}
	c := 0
	switch s {
	case history.SortStarted:
		c = last(a.StartedAt, b.StartedAt)
	case history.SortFinished:
		c = last(a.FinishedAt, b.FinishedAt)
	case history.SortDuration:
		c = cmp.Compare(duration(b), duration(a))
	case history.SortState:
		c = cmp.Compare(a.State, b.State)
	}
	return cmp.Or(c, b.SubmittedAt.Compare(*a.SubmittedAt))
}

func toInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func duration(a history.App) time.Duration {
	if a.StartedAt == nil || a.FinishedAt == nil {
		return -1
	}
	return a.FinishedAt.Sub(*a.StartedAt)
}

// Every query selects what the filter says, in its order, whichever index it begins with.
func TestListOfRandomFilters(t *testing.T) {
	t.Parallel()
	db, r := openTest(t, Options{}), rand.New(rand.NewPCG(1, 1))
	metrics := map[string][]history.Metric{}
	apps := make([]history.App, 300)
	for i := range apps {
		apps[i] = randomApp(r, i)
	}
	slices.SortStableFunc(apps, func(a, b history.App) int { return a.SubmittedAt.Compare(*b.SubmittedAt) })
	mustInsert(t, db, apps...)
	for i := range apps {
		a := &apps[i]
		metrics[a.ID] = randomMetrics(r)
		if err := db.PutMetrics(t.Context(), a.Backend, a.ID, metrics[a.ID]); err != nil {
			t.Fatal(err)
		}
	}
	slices.Reverse(apps) // equal times: the later record first
	for range long.N(250, 50) {
		f := randomFilter(r)
		var want []string
		sorted := slices.Clone(apps)
		slices.SortStableFunc(sorted, func(a, b history.App) int {
			if m := f.SortMetric; m != nil {
				return m.Compare(valueOf(metrics[a.ID], m.Name, m.Stat), valueOf(metrics[b.ID], m.Name, m.Stat))
			}
			return less(f.Sort, a, b)
		})
		for i := range sorted {
			if matches(&f, &sorted[i]) && matchesMetrics(&f, metrics[sorted[i].ID]) {
				want = append(want, sorted[i].ID)
			}
		}
		if n, err := db.Count(t.Context(), f); n != len(want) || err != nil {
			t.Fatalf("filter %+v: got %d apps, %v, want %d", f, n, err, len(want))
		}
		if want = want[min(f.Offset, len(want)):]; f.Limit > 0 {
			want = want[:min(f.Limit, len(want))]
		}
		for _, few := range []int{0, 20, fewApps} {
			query, args, err := listQuery(t.Context(), db.sql, &f, few)
			if err != nil {
				t.Fatal(err)
			}
			got, err := queryAll(t.Context(), db.sql, func(row scanner) (history.App, error) {
				var value *float64
				if f.SortMetric != nil {
					row = metricRow{row, &value}
				}
				return scanApp(row, false)
			}, query, args...)
			if ids(got) != strings.Join(want, " ") || err != nil {
				t.Fatalf("few %d, filter %+v:\ngot  %q, %v\nwant %q\n%s", few, f, ids(got), err, want, query)
			}
		}
	}
}

// No list of a long history reads all of it: SQLite uses an index for each part.
func TestListUsesIndexes(t *testing.T) {
	t.Parallel()
	db, value := openTest(t, Options{}), "vision"
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		mustInsert(t, db, randomApp(r, i))
	}
	for name, f := range map[string]history.Filter{
		"all":                 {},
		"component":           {Component: "dist.ddp"},
		"components":          {Component: "dist.*"},
		"name":                {Name: "train"},
		"parent":              {Parents: []string{"exp-1"}},
		"tag":                 {Tags: []history.TagFilter{{Key: "team"}}},
		"tag value":           {Tags: []history.TagFilter{{Key: "team", Value: &value}}},
		"search":              {Search: "train"},
		"state":               {States: []spec.State{spec.Failed}},
		"states":              {States: []spec.State{spec.Failed, spec.Cancelled}},
		"backend":             {Backend: "local"},
		"time":                {Since: clock, Until: clock.Add(time.Minute)},
		"state and component": {States: []spec.State{spec.Failed}, Component: "dist.ddp"},
		"metric":              {Metrics: []history.MetricFilter{{Name: "loss", Stat: history.StatMin, Op: history.Less, Value: 0.5}}},
		"by metric":           {SortMetric: &history.MetricSort{Name: "loss", Stat: history.StatLast}},
		"by metric, down":     {SortMetric: &history.MetricSort{Name: "loss", Stat: history.StatMax, Descending: true}, Name: "train"},
		"tag and search":      {Tags: []history.TagFilter{{Key: "team"}}, Search: "train"},
	} {
		for sort := history.SortSubmitted; sort <= history.SortState; sort++ {
			for _, few := range []int{0, 10000} {
				f.Sort, f.Limit = sort, 50
				query, args, err := listQuery(t.Context(), db.sql, &f, few)
				if err != nil {
					t.Fatal(err)
				}
				for _, step := range explain(t, db.sql, query, args) {
					// A whole walk is by an index in the order of the list, which the limit ends.
					if strings.HasPrefix(step, "SCAN apps") && !strings.Contains(step, "USING INDEX") || strings.HasPrefix(step, "SCAN tags") || strings.HasPrefix(step, "SCAN metrics") {
						t.Errorf("%s, sort %d, few %d: %s\n%s", name, sort, few, step, query)
					}
				}
			}
		}
	}
}

// explain returns the steps of EXPLAIN QUERY PLAN.
func explain(t *testing.T, q *sql.DB, query string, args []any) []string {
	t.Helper()
	steps, err := queryAll(t.Context(), q, func(row scanner) (detail string, err error) {
		var id, parent, unused int
		err = row.Scan(&id, &parent, &unused, &detail)
		return detail, err
	}, `EXPLAIN QUERY PLAN `+query, args...)
	if err != nil || len(steps) == 0 {
		t.Fatalf("got steps %q, %v, want some", steps, err)
	}
	return steps
}

// A history of an earlier version has no words: the first search adds them, and what changed since
// stays.
func TestSearchOfOldApps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	s := old(t, path)
	_, err := s.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5010)
		INSERT INTO apps (backend, id, name, component, state, submitted_at) SELECT 'local', 'a-' || i, 'a', 'c', 4, i FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exec(`INSERT INTO app_details (app, args) SELECT seq, json_array('--lr', seq % 7) FROM apps`); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var slow []string
	db, err := Open(t.Context(), path, Options{Slow: func(what string) func() {
		slow = append(slow, what)
		return func() {}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	note := "the best"
	if _, err := db.SetLabels(t.Context(), "local", "a-7", history.LabelChange{Note: &note}); err != nil {
		t.Fatal(err)
	}
	if err := db.Delete(t.Context(), "local", "a-9"); err != nil {
		t.Fatal(err)
	}
	for search, want := range map[string]int{"lr 3": 716, "a-12": 1, "best": 1, "a-9": 0, "a-5010": 1} {
		apps, err := db.List(t.Context(), history.Filter{Search: search})
		if err != nil || len(apps) != want {
			t.Errorf("%s: got %d apps, %v, want %d", search, len(apps), err, want)
		}
	}
	if len(slow) != 2 {
		t.Errorf("got %q, want the upgrade and the first search", slow)
	}
}

// old creates a history of schema 4.
func old(t *testing.T, path string) *sql.DB {
	t.Helper()
	s, err := pool(plainDSN(path, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := inTx(t.Context(), s, func(tx *sql.Tx) error { return apply(t.Context(), tx, migrationNames()[:4]) }); err != nil {
		t.Fatal(err)
	}
	return s
}
