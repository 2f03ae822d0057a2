package state

import (
	"context"
	"database/sql"
	"math"

	"torchx/runtime/history"
)

// PutMetrics implements history.Recorder.
func (db *DB) PutMetrics(ctx context.Context, backend, id string, all []history.Metric) error {
	return db.writeApp(ctx, "record metrics of app "+id, backend, id, func(tx *sql.Tx, seq int64) error {
		return execAll(ctx, tx, all, func(m history.Metric) []any {
			return []any{
				seq, m.Name, m.Role, m.Replica, m.Main, m.Source, m.Count, m.NonFinite,
				real(m.First), real(m.Last), real(m.Min), real(m.Max), optional(m.LastStep),
			}
		}, `INSERT INTO metrics (app, key, role, replica, main, source, count, non_finite, first, last, min, max, last_step)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (app, key, role, replica) DO UPDATE SET (main, source, count, non_finite, first, last, min, max, last_step) =
			(excluded.main, excluded.source, excluded.count, excluded.non_finite, excluded.first, excluded.last, excluded.min, excluded.max, excluded.last_step)
			WHERE (main, source, count) <> (excluded.main, excluded.source, excluded.count)`)
	})
}

// Metrics returns an app's metrics by name, role and replica. Errors: ErrNotFound.
func (db *DB) Metrics(ctx context.Context, backend, id string) ([]history.Metric, error) {
	var all []history.Metric
	err := db.readApp(ctx, "read metrics of app "+id, backend, id, func(seq int64) (err error) {
		all, err = queryAll(ctx, db.sql, scanMetric,
			`SELECT role, replica, key, main, source, count, non_finite, first, last, min, max, last_step FROM metrics WHERE app = ?
			ORDER BY key, role, replica`, seq)
		return err
	})
	return all, err
}

func scanMetric(row scanner) (m history.Metric, err error) {
	var first, last, least, most *float64
	err = row.Scan(&m.Role, &m.Replica, &m.Name, &m.Main, &m.Source, &m.Count, &m.NonFinite, &first,
		&last, &least, &most, &m.LastStep)
	m.First, m.Last, m.Min, m.Max = orNaN(first), orNaN(last), orNaN(least), orNaN(most)
	return m, err
}

// real returns NULL for NaN, which SQLite does not have.
func real(v float64) any {
	if math.IsNaN(v) {
		return nil
	}
	return v
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// metricCondition selects apps by a value of a metric.
func metricCondition(m history.MetricFilter) condition {
	c := condition{
		where: `metrics.key = ? AND main AND metrics.` + string(m.Stat) + ` ` + string(m.Op) + ` ?`, args: []any{m.Name, m.Value}, key: `app`,
	}
	c.from = `metrics WHERE ` + c.where
	c.where = `EXISTS (SELECT 1 FROM metrics WHERE app = seq AND ` + c.where + `)`
	return c
}

// hasMetric selects apps that have a metric.
func hasMetric(name string) condition {
	return condition{
		where: `EXISTS (SELECT 1 FROM metrics WHERE app = seq AND metrics.key = ? AND main)`, args: []any{name},
		from: `metrics WHERE metrics.key = ? AND main`, key: `app`, isSort: true,
	}
}

// metricOrder returns the ORDER BY of a metric, in which NaN is last.
func metricOrder(m *history.MetricSort, value, seq string) string {
	direction := ` ASC`
	if m.Descending {
		direction = ` DESC`
	}
	return ` ORDER BY ` + value + direction + ` NULLS LAST, ` + seq + ` DESC`
}

// metricRow is a row of an app with the value of SortMetric after its columns.
type metricRow struct {
	scanner
	value **float64
}

func (r metricRow) Scan(dest ...any) error { return r.scanner.Scan(append(dest, r.value)...) }
