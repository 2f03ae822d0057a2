package state

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/history"
)

// fewApps is how many apps a condition may select for a list to read and sort all of them.
// The first of more are found soon by an index in the order of the list.
const fewApps = 3000

// List implements history.Apps.
func (db *DB) List(ctx context.Context, f history.Filter) ([]history.App, error) {
	var apps []history.App
	err := db.Walk(ctx, f, func(a *history.App) error {
		apps = append(apps, *a)
		return nil
	})
	return apps, err
}

// Walk implements history.Apps.
func (db *DB) Walk(ctx context.Context, f history.Filter, visit func(*history.App) error) error {
	if f.Search != "" {
		if err := db.completeWords(ctx); err != nil {
			return err
		}
	}
	var stopped, broken error
	began := false
	err := db.read(ctx, "list apps", func() error {
		if err := resolve(ctx, db.sql, &f); err != nil {
			return err
		}
		query, args, err := listQuery(ctx, db.sql, &f, fewApps)
		if err != nil {
			return err
		}
		err = eachRow(ctx, db.sql, func(row scanner) error {
			var value *float64
			if f.SortMetric != nil {
				row = metricRow{row, &value}
			}
			values := &valuesRow{scanner: row}
			if f.Values {
				row = values
			}
			a, err := scanApp(row, f.Details)
			if err == nil && f.Values {
				err = values.fill(&a)
			}
			if err != nil {
				return err
			}
			a.SortValue = value
			began = true
			stopped = visit(&a)
			return stopped
		}, query, args...)
		if began {
			broken, err = err, nil // read repeats what fails, but no app may be visited twice
		}
		return err
	})
	if err == nil && stopped == nil {
		err = db.done(ctx, "list apps", broken)
	}
	return cmp.Or(stopped, err)
}

// Count implements history.Apps.
func (db *DB) Count(ctx context.Context, f history.Filter) (n int, err error) {
	if f.Search != "" {
		if err := db.completeWords(ctx); err != nil {
			return 0, err
		}
	}
	err = db.read(ctx, "count apps", func() error {
		if err := resolve(ctx, db.sql, &f); err != nil {
			return err
		}
		query, args, err := countQuery(ctx, db.sql, &f)
		if err != nil {
			return err
		}
		return db.sql.QueryRowContext(ctx, query, args...).Scan(&n)
	})
	return n, err
}

// countQuery returns a query that reads indexes only if there is one condition.
func countQuery(
	ctx context.Context, q querier, f *history.Filter,
) (query string, args []any, err error) {
	all, err := conditionsOf(ctx, q, f)
	if err != nil {
		return "", nil, err
	}
	if len(all) == 1 && all[0].from != "" {
		return `SELECT count(*) FROM ` + all[0].from, all[0].args, nil
	}
	query = `SELECT count(*) FROM apps`
	for i, c := range all {
		if c.from != "" && !strings.HasPrefix(c.from, `apps `) { // a search of each app would be slow
			c.where = `seq IN (SELECT ` + c.key + ` FROM ` + c.from + `)`
		}
		query += []string{` WHERE `, ` AND `}[min(i, 1)] + c.where
		args = append(args, c.args...)
	}
	return query, args, nil
}

// Known implements history.Apps.
func (db *DB) Known(ctx context.Context, backend string, ids []string) (map[string]bool, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("encode IDs: %w", err)
	}
	known := map[string]bool{}
	err = db.read(ctx, "find apps", func() error {
		return eachRow(ctx, db.sql, func(row scanner) error {
			var id string
			err := row.Scan(&id)
			known[id] = true
			return err
		}, `SELECT id FROM apps WHERE id IN (SELECT value FROM json_each(?)) AND backend = ?`, string(list), backend)
	})
	return known, err
}

// listQuery returns a query that reads few rows even of a long history, whatever the filter:
// it begins with a condition that selects few apps, or walks an index in the order of the
// list until it has enough. few is fewApps but in tests.
func listQuery(ctx context.Context, q querier, f *history.Filter, few int) (string, []any, error) {
	all, err := conditionsOf(ctx, q, f)
	if err != nil {
		return "", nil, err
	}
	first := -1
	if f.Sort != history.SortSubmitted || f.FirstEnded || f.SortMetric != nil || len(all) != 1 ||
		!all[0].ordered && !all[0].walkable() {
		if first, err = fewest(ctx, q, all, few); err != nil {
			return "", nil, err
		}
	}
	page := *f
	if f.Offset > 0 {
		whole := *f
		if whole.Offset = 0; f.Limit > 0 {
			whole.Limit += f.Offset
		}
		f = &whole
	}
	b := listBuilder{filter: f, order: orderBy(f), metric: `NULL AS metric`}
	ordered := slices.IndexFunc(all, func(c condition) bool { return c.ordered })
	walked := slices.IndexFunc(all, func(c condition) bool { return c.walkable() })
	isState := func(c condition) bool { return c.column == `state` }
	switch {
	case f.SortMetric != nil && isComputed(f.SortMetric.Stat):
		b.metric, b.args = computed(f.SortMetric.Stat, f.SortMetric.Name)
		b.metric += ` AS metric`
		b.add(`apps`, all)
	case first >= 0:
		if m := f.SortMetric; m != nil {
			b.metric = `(SELECT ` + string(m.Stat) + ` FROM metrics WHERE app = seq AND metrics.key = ? AND main) AS metric`
			b.args = append(b.args, m.Name)
		}
		c := all[first]
		c.where = `seq IN (SELECT ` + c.key + ` FROM ` + c.from + `)`
		b.add(`apps NOT INDEXED`, append([]condition{c}, without(all, first)...))
	case f.SortMetric != nil:
		b.addMetric(all)
	case f.FirstEnded:
		b.add(`apps`+sorts[history.SortFinished].index, all)
	case f.Sort == history.SortSubmitted && ordered >= 0:
		b.addOrdered(all[ordered], without(all, ordered))
	case f.Sort == history.SortSubmitted && walked >= 0:
		b.addWalks(all[walked], without(all, walked))
	case f.Sort == history.SortState && slices.ContainsFunc(all, isState):
		i := slices.IndexFunc(all, isState)
		b.addWalks(all[i], without(all, i))
	case f.Sort == history.SortState:
		states := append(history.LiveStates(), history.TerminalStates()...)
		b.addWalks(byValues(`state`, `apps_state`, ``, anys(states)...), all)
	default:
		b.add(`apps`+sorts[f.Sort].index, all)
	}
	columns, tables := shortColumns, `(`+strings.Join(b.parts, ` UNION ALL `)+`)`
	if page.Offset > 0 { // tags are read of the rest only
		tables = `(SELECT * FROM ` + tables + orderBy(&page) + `)`
	}
	if f.Details {
		columns, tables = longColumns, tables+` JOIN app_details ON app = seq`
	}
	if f.Values {
		columns += valueColumns
	}
	if f.SortMetric != nil {
		columns += `, iif(typeof(metric) = 'text', NULL, metric)`
	}
	return `SELECT ` + columns + ` FROM ` + tables + b.order, b.args, nil
}

// listBuilder collects the parts of a UNION.
type listBuilder struct {
	filter *history.Filter
	order  string
	metric string // the column of SortMetric
	parts  []string
	args   []any
}

// add adds the apps of a table that match all conditions.
func (b *listBuilder) add(table string, all []condition) { b.addInOrder(table, all, b.order) }

func (b *listBuilder) addInOrder(table string, all []condition, order string) {
	where := make([]string, len(all))
	for i, c := range all {
		where[i], b.args = c.where, append(b.args, c.args...)
	}
	text := ``
	if len(where) > 0 {
		text = ` WHERE ` + strings.Join(where, ` AND `)
	}
	b.parts = append(b.parts, `SELECT * FROM (SELECT seq, duration, `+b.metric+`, `+rowColumns+` FROM `+table+text+order+`)`)
}

// addOrdered adds the last apps of a condition whose index has them in the order of
// submission.
func (b *listBuilder) addOrdered(first condition, others []condition) {
	table, where, _ := strings.Cut(first.from, ` WHERE `)
	first.where = where
	order := ` ORDER BY ` + first.key + ` DESC`
	if b.filter.Limit > 0 {
		order += fmt.Sprintf(` LIMIT %d`, b.filter.Limit)
	}
	b.addInOrder(table+` CROSS JOIN apps ON seq = `+first.key,
		append([]condition{first}, others...), order)
}

// addWalks adds one SELECT per value of a condition, each of which an index serves in the order
// of submission.
func (b *listBuilder) addWalks(c condition, others []condition) {
	for _, value := range c.values {
		one := condition{where: c.column + ` = ?` + c.more, args: []any{value}}
		b.add(`apps INDEXED BY `+c.index, append([]condition{one}, others...))
	}
}

// addMetric adds the first apps in the order of a metric, by the index of its value.
func (b *listBuilder) addMetric(all []condition) {
	m := b.filter.SortMetric
	stat := string(m.Stat)
	b.metric = stat + ` AS metric`
	main := condition{where: `metrics.key = ? AND main`, args: []any{m.Name}}
	order := metricOrder(m, stat, `app`)
	if b.filter.Limit > 0 {
		order += fmt.Sprintf(` LIMIT %d`, b.filter.Limit)
	}
	others := slices.DeleteFunc(all, func(c condition) bool { return c.isSort })
	b.addInOrder(`metrics INDEXED BY metrics_`+stat+` CROSS JOIN apps ON seq = app`,
		append([]condition{main}, others...), order)
}

// sorts has the ORDER BY of each order, and the index that serves it.
var sorts = map[history.Sort]struct{ by, index string }{
	history.SortSubmitted: {``, ` INDEXED BY apps_newest`},
	history.SortStarted:   {`started_at DESC, `, ` INDEXED BY apps_started`},
	history.SortFinished:  {`finished_at DESC, `, ` INDEXED BY apps_finished`},
	history.SortDuration:  {`duration DESC, `, ` INDEXED BY apps_duration`},
	history.SortState:     {`state, `, ``},
}

func orderBy(f *history.Filter) string {
	order := ` ORDER BY ` + sorts[f.Sort].by + `submitted_at DESC, seq DESC`
	switch {
	case f.SortMetric != nil:
		order = metricOrder(f.SortMetric, `metric`, `seq`)
	case f.FirstEnded:
		order = ` ORDER BY finished_at, submitted_at, seq`
	}
	switch {
	case f.Offset > 0 && f.Limit == 0:
		order += fmt.Sprintf(` LIMIT -1 OFFSET %d`, f.Offset)
	case f.Limit > 0:
		order += fmt.Sprintf(` LIMIT %d OFFSET %d`, f.Limit, f.Offset)
	}
	return order
}
