package state

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"torchx/runtime/history"
)

// List implements history.Apps.
func (db *DB) List(ctx context.Context, f history.Filter) ([]history.App, error) {
	query, args := listQuery(&f)
	var apps []history.App
	err := db.read(ctx, "list apps", func() (err error) {
		apps, err = queryApps(ctx, db.sql, f.Details, query, args...)
		return err
	})
	return apps, err
}

// listQuery returns one SELECT per state. For each, an index provides the order, so that a limit
// reads few rows even of a long history.
func listQuery(f *history.Filter) (string, []any) {
	order := ` ORDER BY submitted_at DESC, seq DESC`
	if f.Limit > 0 {
		order += fmt.Sprintf(` LIMIT %d`, f.Limit)
	}
	parts, args := []string{}, []any{}
	add := func(conditions []string, values []any) {
		where := ""
		if len(conditions) > 0 {
			where = ` WHERE ` + strings.Join(conditions, ` AND `)
		}
		parts = append(parts, `SELECT * FROM (SELECT seq, `+shortColumns+` FROM apps`+where+order+`)`)
		args = append(args, values...)
	}
	conditions, values := commonConditions(f)
	states := slices.Compact(slices.Sorted(slices.Values(f.States)))
	for _, state := range states {
		add(append(slices.Clip(conditions), `state = ?`), append(slices.Clip(values), int(state)))
	}
	if len(states) == 0 {
		add(conditions, values)
	}
	columns, tables := shortColumns, `(`+strings.Join(parts, ` UNION ALL `)+`)`
	if f.Details {
		columns, tables = longColumns, tables+` JOIN app_details ON app = seq`
	}
	return `SELECT ` + columns + ` FROM ` + tables + order, args
}

// commonConditions returns the conditions that do not depend on the state.
func commonConditions(f *history.Filter) (conditions []string, values []any) {
	if f.Backend != "" {
		conditions, values = append(conditions, `backend = ?`), append(values, f.Backend)
	}
	if !f.Since.IsZero() {
		conditions, values = append(conditions, `submitted_at >= ?`), append(values, f.Since.UnixNano())
	}
	return conditions, values
}
