package state

import (
	"fmt"
	"math"
	"testing"

	"torchx/runtime/history"
)

// TestValues: lists filter and sort by arguments, and have the values of arguments and metrics.
func TestValues(t *testing.T) {
	t.Parallel()
	db := openTest(t, Options{})
	for i, args := range [][]string{{"--lr", "0.5", "--model=res"}, {"--lr=0.05"}, {"--lr", "auto"}, {"x"}} {
		id := fmt.Sprint("app-", i)
		mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: id}, Source: history.Source{Args: args}, SubmittedAt: new(clock)})
		loss := history.Metric{Name: "loss", Main: true, Last: float64(i), Min: math.NaN(), Max: math.Inf(1), Count: 1}
		if err := db.PutMetrics(t.Context(), "local", id, []history.Metric{loss}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.PutMetrics(t.Context(), "local", "app-1", []history.Metric{{Name: "seed", Main: true, Last: 7}}); err != nil {
		t.Fatal(err)
	}
	mustInsert(t, db, history.App{AppKey: history.AppKey{Backend: "local", ID: "app-4"}, Source: history.Source{Args: []string{"--seed=8", "--loss=mse"}}, SubmittedAt: new(clock)})
	filtered := func(text string) history.Filter {
		m, err := history.ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		return history.Filter{Metrics: []history.MetricFilter{m}}
	}
	for name, test := range map[string]struct {
		filter history.Filter
		want   string
	}{
		"less":       {filtered("lr<0.1"), "[app-1]"},
		"greater":    {filtered("lr>0.1"), "[app-0]"},
		"explicit":   {filtered("arg(lr)!=0.5"), "[app-1]"},
		"text":       {filtered("model=res"), "[app-0]"},
		"either":     {filtered("seed>6"), "[app-4 app-1]"},
		"other text": {filtered("lr!=auto"), "[app-1 app-0]"},
		"metric":     {filtered("loss>=2"), "[app-3 app-2]"},
		"order":      {history.Filter{SortMetric: &history.MetricSort{Name: "lr", Stat: history.StatLast}}, "[app-1 app-0 app-2]"},
		"descending": {history.Filter{SortMetric: &history.MetricSort{Name: "lr", Stat: history.StatArg, Descending: true}, Limit: 2}, "[app-2 app-0]"},
	} {
		ids := []string{}
		test.filter.Values = true
		apps, err := db.List(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range apps {
			if ids = append(ids, a.ID); len(a.Args) == 0 || a.ID != "app-4" && (*a.Metrics["loss"][0] < 0 || a.Metrics["loss"][1] != nil || a.Metrics["loss"][2] != nil) {
				t.Errorf("%s: %s has arguments %q and metrics %v", name, a.ID, a.Args, a.Metrics)
			}
		}
		if got := fmt.Sprint(ids); got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
		if n, err := db.Count(t.Context(), test.filter); err != nil || test.filter.Limit == 0 && n != len(ids) {
			t.Errorf("%s: counted %d, %v, want %d", name, n, err, len(ids))
		}
	}
}
