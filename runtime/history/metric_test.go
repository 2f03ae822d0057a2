package history

import (
	"math"
	"testing"
)

// TestFilter: arguments may be compared as texts.
func TestFilter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]MetricFilter{
		"lr<0.1":          {Name: "lr", Stat: StatLast, Op: Less, Value: 0.1},
		"arg(lr)>=1":      {Name: "lr", Stat: StatArg, Op: GreaterOrEqual, Value: 1},
		"model=res":       {Name: "model", Stat: StatArg, Op: Equal, Text: "res"},
		"arg(model)!=a b": {Name: "model", Stat: StatArg, Op: NotEqual, Text: "a b"},
	} {
		if got, err := ParseFilter(text); err != nil || got.Name != want.Name || got.Stat != want.Stat || got.Op != want.Op || got.Text != want.Text || want.Text == "" && got.Value != want.Value {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "lr", "lr<small", "lr=", "=a", "lr=<3", "a<b=c"} {
		if got, err := ParseFilter(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

// TestMetricFilter: a condition is parsed, written and checked in the same way.
func TestMetricFilter(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		want       string
		holds, not float64
	}{
		"val_loss<0.1":        {"val_loss<0.1", 0.05, 0.1},
		" loss <= 1e-3":       {"loss<=0.001", 0.001, 0.0011},
		"max(acc) >= 0.9":     {"max(acc)>=0.9", 0.9, 0.89},
		"min(eval/loss)>-inf": {"min(eval/loss)>-Inf", 0, math.Inf(-1)},
		"n==3":                {"n=3", 3, 4},
		"n=3":                 {"n=3", 3, math.NaN()},
		"n!=3":                {"n!=3", 4, math.NaN()},
	} {
		m, err := ParseMetricFilter(text)
		if err != nil || m.String() != c.want || !m.Holds(c.holds) || m.Holds(c.not) || m.Holds(math.NaN()) {
			t.Errorf("%q: got %s, %v, holds of %v: %v, of %v: %v; want %s, true, false", text, m, err, c.holds, m.Holds(c.holds), c.not, m.Holds(c.not), c.want)
		}
	}
	for _, text := range []string{"", "loss", "<3", "loss<", "loss<x", "loss<NaN", "loss=<3", "lo\x00ss<3", "max()<3"} {
		if m, err := ParseMetricFilter(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, m)
		}
	}
}
