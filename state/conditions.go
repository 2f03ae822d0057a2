package state

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"torchx/runtime/history"
)

// condition is one part of a Filter.
type condition struct {
	where string // on a row of apps
	args  []any
	// from and key select the matching apps by an index: SELECT key FROM from. from takes args,
	// too. In an order of key, which is that of submission, rows come without sorting if ordered.
	from, key string
	ordered   bool
	isState   bool
	isSort    bool // the app has the metric of SortMetric
}

// conditionsOf returns the conditions of a filter, first those that usually select fewest.
func conditionsOf(f *history.Filter) (all []condition) {
	add := func(c condition) { all = append(all, c) }
	column := func(name, value string) {
		if value == "" {
			return
		}
		c := condition{where: name + ` = ?`, args: []any{value}, key: `seq`}
		if i := strings.IndexAny(value, history.PatternChars); i >= 0 {
			prefix := value[:i]
			inRange, args := prefixRange(name, prefix)
			c.where, c.args = inRange+` AND `+name+` GLOB ?`, append(args, value)
		}
		c.from = `apps WHERE ` + c.where
		add(c)
	}
	if query := searchQuery(f.Search); query != "" {
		add(condition{
			where: `EXISTS (SELECT 1 FROM words WHERE rowid = seq AND words MATCH ?)`, args: []any{query},
			from: `words WHERE words MATCH ?`, key: `words.rowid`, ordered: true,
		})
	}
	for _, m := range f.Metrics {
		add(metricCondition(m))
	}
	if f.SortMetric != nil {
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
		where := `parent_run_id IN (` + placeholders(len(f.Parents)) + `) AND parent_run_id <> ''` // as the index has it
		c := condition{where: where, from: `apps WHERE ` + where, key: `seq`}
		for _, id := range f.Parents {
			c.args = append(c.args, id)
		}
		add(c)
	}
	column(`name`, f.Name)
	column(`component`, f.Component)
	if len(f.States) > 0 {
		c := condition{key: `seq`, isState: true}
		for _, s := range f.States {
			c.args = append(c.args, int(s))
		}
		c.where = `state IN (` + placeholders(len(f.States)) + `)`
		c.from = `apps WHERE ` + c.where
		add(c)
	}
	if f.Backend != "" {
		add(condition{where: `backend = ?`, args: []any{f.Backend}, from: `apps WHERE backend = ?`, key: `seq`})
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
	return all
}

// placeholders returns n question marks.
func placeholders(n int) string { return strings.TrimSuffix(strings.Repeat(`?, `, n), `, `) }

// searchQuery returns the query of FTS5 for apps that have all words, or words that begin
// with them. https://sqlite.org/fts5.html#full_text_query_syntax
func searchQuery(text string) string {
	var terms []string
	for _, word := range strings.Fields(text) {
		if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			terms = append(terms, `"`+strings.ReplaceAll(word, `"`, `""`)+`"*`)
		}
	}
	return strings.Join(terms, ` AND `)
}

// fewest returns the index of the condition that selects the fewest apps, -1 if all select
// more than few.
func fewest(ctx context.Context, q querier, all []condition, few int) (int, error) {
	first, least := -1, few+1
	for i := range all {
		c, n := &all[i], 0
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
