package state

import (
	"context"
	"fmt"
	"strings"
	"time"

	"torchx/runtime/spec"
)

// Filter selects apps; its zero value selects all.
type Filter struct {
	Backend string       // "": all
	States  []spec.State // empty: all
	Since   time.Time    // submitted then or later; zero: all
	Limit   int          // at most so many, the newest; 0: all
	// Details also reads the long texts (Args, App, Cfg, Request, Cwd, Modules,
	// Getenv), which are empty without it: a list does not show them.
	Details bool
}

// LiveStates are the states of apps that are not known to have ended.
func LiveStates() []spec.State {
	return []spec.State{spec.Unsubmitted, spec.Submitted, spec.Pending, spec.Running, spec.Unknown}
}

// List returns the selected apps, newest (by SubmittedAt) first.
func (db *DB) List(ctx context.Context, f Filter) ([]App, error) {
	query, args := f.query()
	var apps []App
	err := db.read(ctx, "list apps", func() (err error) {
		apps, err = queryApps(ctx, db.sql, f.Details, query, args...)
		return err
	})
	return apps, err
}

// query is one SELECT per state, each of which an index serves in the wanted
// order, so that a limit reads few rows even of a long history.
func (f Filter) query() (string, []any) {
	const newest = ` ORDER BY submitted_at DESC, seq DESC`
	parts, args := []string{}, []any{}
	for _, state := range f.stateConditions() {
		where, whereArgs := f.conditions(state)
		parts = append(parts, `SELECT * FROM (SELECT seq, `+shortColumns+` FROM apps`+where+newest+f.limit()+`)`)
		args = append(args, whereArgs...)
	}
	columns, tables := shortColumns, `(`+strings.Join(parts, ` UNION ALL `)+`)`
	if f.Details {
		columns, tables = longColumns, tables+` JOIN app_details ON app = seq`
	}
	return `SELECT ` + columns + ` FROM ` + tables + newest + f.limit(), args
}

// stateConditions lists the states, or one nil for "any".
func (f Filter) stateConditions() []*spec.State {
	if len(f.States) == 0 {
		return []*spec.State{nil}
	}
	seen := map[spec.State]bool{}
	var states []*spec.State
	for _, s := range f.States {
		if !seen[s] {
			seen[s] = true
			states = append(states, &s)
		}
	}
	return states
}

func (f Filter) conditions(state *spec.State) (string, []any) {
	var where []string
	var args []any
	add := func(condition string, arg any) {
		where, args = append(where, condition), append(args, arg)
	}
	if f.Backend != "" {
		add(`backend = ?`, f.Backend)
	}
	if state != nil {
		add(`state = ?`, int(*state))
	}
	if !f.Since.IsZero() {
		add(`submitted_at >= ?`, f.Since.UnixNano())
	}
	if len(where) == 0 {
		return "", nil
	}
	return ` WHERE ` + strings.Join(where, ` AND `), args
}

func (f Filter) limit() string {
	if f.Limit <= 0 {
		return ""
	}
	return fmt.Sprintf(` LIMIT %d`, f.Limit)
}
