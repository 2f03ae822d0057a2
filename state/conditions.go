package state

import (
	"context"
	"slices"
	"strings"

	"torchx/runtime/history"
	"torchx/runtime/sweep"
)

// condition is one part of a Filter.
type condition struct {
	where string // on a row of apps
	args  []any
	// from and key select the matching apps by an index, if one serves: SELECT key FROM from. from
	// takes args, too. In an order of key, which is that of submission, rows come without sorting
	// if ordered.
	from, key string
	ordered   bool
	isSort    bool // the app has the metric of SortMetric
	// index, if any, has the apps of each of the values of a column in the order of submission;
	// more is the condition of a partial index.
	column, index, more string
	values              []any
}

// maxWalks is up to how many values of a column are walked one by one.
const maxWalks = 64

// walkable reports whether walks of an index, one per value, find the newest matching apps.
func (c *condition) walkable() bool {
	return c.index != "" && len(c.values) > 0 && len(c.values) <= maxWalks
}

// without returns the other conditions.
func without(all []condition, i int) []condition { return slices.Delete(slices.Clone(all), i, i+1) }

// byValues returns the condition that a column has one of some values.
func byValues(column, index, more string, values ...any) condition {
	where := column + ` IN (` + placeholders(len(values)) + `)` + more
	return condition{where: where, args: values, from: `apps WHERE ` + where, key: `seq`, column: column, index: index, more: more, values: values}
}

// conditionsOf returns the conditions of a filter, first those that usually select fewest.
func conditionsOf(ctx context.Context, q querier, f *history.Filter) (all []condition, err error) {
	add := func(c condition) { all = append(all, c) }
	if query := searchQuery(f.Search); query != "" {
		add(condition{
			where: `EXISTS (SELECT 1 FROM words WHERE rowid = seq AND words MATCH ?)`, args: []any{query},
			from: `words WHERE words MATCH ?`, key: `words.rowid`, ordered: true,
		})
	}
	if f.NoTrials { // most apps are none: it selects no few
		add(condition{where: `(parent_run_id = '' OR NOT EXISTS (SELECT 1 FROM tags WHERE app = seq AND key = ? AND value = parent_run_id))`, args: []any{sweep.SweepTag}})
	}
	for _, m := range f.Metrics {
		if isComputed(m.Stat) {
			add(computedCondition(m))
		} else {
			add(metricCondition(m))
		}
	}
	if m := f.SortMetric; m != nil && isComputed(m.Stat) {
		column, args := computed(m.Stat, m.Name)
		add(condition{where: column + ` IS NOT NULL`, args: args})
	} else if m != nil {
		add(hasMetric(f.SortMetric.Name))
	}
	for _, t := range f.Tags {
		c := condition{where: `key = ?`, args: []any{t.Key}, key: `app`, ordered: true}
		if t.Value != nil {
			c.where, c.args = c.where+` AND value = ?`, append(c.args, *t.Value)
		}
		c.from = `tags WHERE ` + c.where
		c.where = `EXISTS (SELECT 1 FROM tags WHERE app = seq AND ` + c.where + `)`
		add(c)
	}
	if len(f.Parents) > 0 {
		add(byValues(`parent_run_id`, `apps_parent`, ` AND parent_run_id <> ''`, anys(f.Parents)...))
	}
	for _, c := range []struct{ column, index, pattern string }{{`name`, `apps_name`, f.Name}, {`component`, `apps_component`, f.Component}} {
		if c.pattern == "" {
			continue
		}
		found, err := byPattern(ctx, q, c.column, c.index, c.pattern)
		if err != nil {
			return nil, err
		}
		add(found)
	}
	if len(f.States) > 0 {
		states := slices.Compact(slices.Sorted(slices.Values(f.States)))
		add(byValues(`state`, `apps_state`, ``, anys(states)...))
	}
	if f.Backend != "" {
		add(byValues(`backend`, `apps_backend`, ``, f.Backend))
	}
	if f.Ended {
		c := condition{where: `finished_at IS NOT NULL`, key: `seq`}
		if !f.EndedBefore.IsZero() {
			c.where, c.args = `finished_at < ?`, []any{f.EndedBefore.UnixNano()}
		}
		c.from = `apps WHERE ` + c.where
		add(c)
	}
	if !f.Since.IsZero() || !f.Until.IsZero() {
		c := condition{key: `seq`}
		var parts []string
		if !f.Since.IsZero() {
			parts, c.args = append(parts, `submitted_at >= ?`), append(c.args, f.Since.UnixNano())
		}
		if !f.Until.IsZero() {
			parts, c.args = append(parts, `submitted_at < ?`), append(c.args, f.Until.UnixNano())
		}
		c.where = strings.Join(parts, ` AND `)
		c.from = `apps WHERE ` + c.where
		add(c)
	}
	return all, nil
}

// anys converts the values of a column.
func anys[T any](values []T) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// maxDistinct bounds the values of a column that are compared with a pattern one by one.
const maxDistinct = 2000

// byPattern returns the condition that a column matches a pattern. Few values are compared once,
// instead of in each row: an index leads from one to the next.
func byPattern(ctx context.Context, q querier, column, index, pattern string) (condition, error) {
	i := strings.IndexAny(pattern, history.PatternChars)
	if i < 0 {
		return byValues(column, index, ``, pattern), nil
	}
	inRange, bounds := prefixRange(column, pattern[:i])
	seen := 0
	var matching []any
	err := eachRow(ctx, q, func(row scanner) error {
		var value string
		var matches bool
		err := row.Scan(&value, &matches)
		if seen++; matches {
			matching = append(matching, value)
		}
		return err
	}, `WITH RECURSIVE next (value) AS (
		SELECT min(`+column+`) FROM apps WHERE `+inRange+`
		UNION ALL SELECT (SELECT min(`+column+`) FROM apps WHERE `+column+` > value AND `+inRange+`) FROM next WHERE value IS NOT NULL)
		SELECT value, value GLOB ? FROM next WHERE value IS NOT NULL LIMIT ?`,
		slices.Concat(bounds, bounds, []any{pattern, maxDistinct + 1})...)
	if err != nil || seen <= maxDistinct {
		return byValues(column, index, ``, matching...), err
	}
	c := condition{where: inRange + ` AND ` + column + ` GLOB ?`, args: append(bounds, pattern), key: `seq`}
	c.from = `apps WHERE ` + c.where
	return c, nil
}

// placeholders returns n question marks.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat(`?, `, n), `, `) }

// searchQuery returns the query of FTS5 for apps that have all words; "base*" stands for all that
// begin so. https://sqlite.org/fts5.html#full_text_query_syntax
func searchQuery(text string) string {
	var terms []string
	for word := range strings.FieldsSeq(text) {
		if len(history.Words(word)) == 0 {
			continue
		}
		term := `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
		if strings.HasSuffix(word, "*") {
			term += `*`
		}
		terms = append(terms, term)
	}
	return strings.Join(terms, ` AND `)
}

// fewest returns the index of the condition that selects the fewest apps, -1 if all select
// more than few.
func fewest(ctx context.Context, q querier, all []condition, few int) (int, error) {
	first, least := -1, few+1
	for i := range all {
		c, n := &all[i], 0
		if c.from == "" {
			continue
		}
		query := `SELECT count(*) FROM (SELECT ` + c.key + ` FROM ` + c.from + ` LIMIT ?)`
		if err := q.QueryRowContext(ctx, query, append(slices.Clip(c.args), least)...).Scan(&n); err != nil {
			return -1, err
		}
		if n < least {
			first, least = i, n
		}
	}
	return first, nil
}
