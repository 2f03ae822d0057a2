package state

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"modernc.org/sqlite"

	"torchx/runtime/history"
)

// registerFunctions adds argument(args, name) to SQLite, the value of an argument: a number, a text,
// or NULL if it is not set.
var registerFunctions = sync.OnceFunc(func() {
	sqlite.MustRegisterDeterministicScalarFunction("argument", 2, func(_ *sqlite.FunctionContext, values []driver.Value) (driver.Value, error) {
		text, _ := values[0].(string)
		name, _ := values[1].(string)
		var args []string
		if json.Unmarshal([]byte(text), &args) != nil {
			return nil, nil //nolint:nilerr // the app has no arguments
		}
		value, ok := history.ArgumentValues(args)[name]
		if !ok {
			return nil, nil
		}
		if number, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(number) {
			return number, nil
		}
		return value, nil
	})
})

const (
	// argumentColumn is the value of an argument of an app.
	argumentColumn = `argument((SELECT args FROM app_details WHERE app = seq), ?)`
	// valueColumns are the arguments and the metrics of an app as JSON, NULL without them.
	valueColumns = `, (SELECT args FROM app_details WHERE app = seq),
		(SELECT json_group_object(key, json_array(iif(abs(last) < 9e999, last, NULL), iif(abs(min) < 9e999, min, NULL), iif(abs(max) < 9e999, max, NULL)))
			FROM metrics WHERE app = seq AND main HAVING count(*) > 0)`
)

// either is what a name means that metrics and arguments have: of an app that lacks the metric, the
// argument.
const either history.Stat = "either"

// resolve decides which names are those of arguments.
func resolve(ctx context.Context, q querier, f *history.Filter) (err error) {
	f.Metrics = slices.Clone(f.Metrics)
	for i := range f.Metrics {
		if m := &f.Metrics[i]; err == nil {
			m.Stat, err = meaning(ctx, q, m.Stat, m.Name)
		}
	}
	if f.SortMetric != nil && err == nil {
		order := *f.SortMetric
		f.SortMetric = &order
		order.Stat, err = meaning(ctx, q, order.Stat, order.Name)
	}
	return err
}

// searchedApps is the number of the newest apps among which an argument is searched that has the
// name of a metric: an index serves metrics, but not arguments.
const searchedApps = `500`

// meaning returns what a plain name means.
func meaning(
	ctx context.Context, q querier, stat history.Stat, name string,
) (history.Stat, error) {
	if stat != history.StatLast {
		return stat, nil
	}
	var isMetric, isArgument bool
	err := q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM metrics WHERE key = ? AND main),
		EXISTS (SELECT 1 FROM (SELECT args FROM app_details ORDER BY app DESC LIMIT `+searchedApps+`) WHERE argument(args, ?) IS NOT NULL)`, name, name).Scan(&isMetric, &isArgument)
	switch {
	case !isMetric:
		return history.StatArg, err
	case isArgument:
		return either, err
	}
	return stat, err
}

// isComputed reports whether no index has the value.
func isComputed(stat history.Stat) bool { return stat == history.StatArg || stat == either }

// computed returns the column of a value that no index has, and its parameters.
func computed(stat history.Stat, name string) (column string, args []any) {
	if stat == either {
		return `coalesce((SELECT last FROM metrics WHERE app = seq AND metrics.key = ? AND main), ` + argumentColumn + `)`, []any{name, name}
	}
	return argumentColumn, []any{name}
}

// computedCondition selects apps by a value. Texts are greater than all numbers in SQLite.
func computedCondition(m history.MetricFilter) condition {
	column, args := computed(m.Stat, m.Name)
	if m.Text != "" {
		return condition{where: column + ` ` + string(m.Op) + ` ?`, args: append(args, m.Text)}
	}
	return condition{
		where: column + ` ` + string(m.Op) + ` ? AND ` + column + ` < ''`, args: slices.Concat(args, []any{m.Value}, args),
	}
}

// valuesRow is a row of an app with valueColumns after its columns.
type valuesRow struct {
	scanner
	args, metrics *string
}

func (r *valuesRow) Scan(dest ...any) error {
	return r.scanner.Scan(append(dest, &r.args, &r.metrics)...)
}

// fill sets the values of an app.
func (r *valuesRow) fill(a *history.App) error {
	a.Metrics = map[string][3]*float64{}
	for _, part := range []struct {
		text *string
		into any
	}{{r.args, &a.Args}, {r.metrics, &a.Metrics}} {
		if part.text == nil {
			continue
		}
		if err := json.Unmarshal([]byte(*part.text), part.into); err != nil {
			return fmt.Errorf("decode arguments and metrics of app %s: %w", a.ID, err)
		}
	}
	return nil
}
