package sweep

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"torchx/runtime/history"
	"torchx/runtime/humanize"
	"torchx/runtime/metrics"
)

// watched is a trial whose app has not ended.
type watched struct {
	follower *metrics.Follower
	count    int64        // values of the sweep's metric
	best     *metricValue // nil: none is finite
	changed  bool         // since the last pass
	judged   bool         // it may be stopped by what it reports
	stopped  bool         // a verdict said so
	reported bool         // a problem was logged

	least, most float64 // values of the condition's metric; NaN: none
	held        float64 // the value by which it met the condition
	holds       bool
}

func newWatched(f *metrics.Follower, judged bool) *watched {
	return &watched{follower: f, judged: judged, least: math.NaN(), most: math.NaN()}
}

// read takes what is new of a trial.
func (w *watcher) read(number int, t *watched) {
	err := t.follower.Read(func(name int, p *metrics.Point) {
		if name == w.metric {
			w.add(number, t, p)
		}
		if w.condition != nil && name == w.goal {
			t.check(w.condition, p.Value)
		}
	}, func(name int) {
		if name == w.metric {
			t.count, t.best = 0, nil
		}
		if name == w.goal {
			t.least, t.most = math.NaN(), math.NaN()
		}
	})
	if err != nil && !t.reported {
		t.reported = true
		w.log.Printf("metrics of trial %d: %v", number, err)
	}
}

// add adds a value of the sweep's metric.
func (w *watcher) add(number int, t *watched, p *metrics.Point) {
	step := t.count
	if p.HasStep {
		step = p.Step
	}
	t.count++
	if isFinite(p.Value) && (t.best == nil || w.rules.Goal.Better(p.Value, t.best.Value)) {
		t.best = &metricValue{Value: p.Value}
		if p.HasStep {
			t.best.Step = &step
		}
	}
	if w.rule != nil && !t.stopped {
		w.rule.Add(number, step, w.rules.Goal.Cost(p.Value))
		t.changed = true
	}
}

// check applies the condition to a value.
func (t *watched) check(c *history.MetricFilter, value float64) {
	if t.holds {
		return
	}
	switch c.Stat {
	case history.StatMin:
		if isFinite(value) && !(t.least <= value) {
			t.least = value
		}
		value = t.least
	case history.StatMax:
		if isFinite(value) && !(t.most >= value) {
			t.most = value
		}
		value = t.most
	}
	if c.Holds(value) {
		t.holds, t.held = true, value
	}
}

// met returns the verdict if a trial meets the condition and none did before.
func (w *watcher) met(number int, t *watched) *verdict {
	if w.done || !t.holds {
		return nil
	}
	w.done = true
	return &verdict{
		Trial: number, Done: true,
		Reason: fmt.Sprintf("goal reached: trial %d has %s %s (--stop-when %s)", number,
			w.condition.Name, strconv.FormatFloat(t.held, 'g', 6, 64), w.condition),
	}
}

// parseCondition parses --stop-when: val_loss<0.1, max(acc)>=0.9 and so on, as conditions of
// `torchx list --where`.
func parseCondition(text string) (history.MetricFilter, error) {
	c, err := history.ParseMetricFilter(text)
	if err != nil {
		return c, fmt.Errorf("%s is %w", humanize.Quote(text), err)
	}
	if c.Op == history.NotEqual {
		return c, errors.New("!= holds of almost any value: use <, <=, =, >= or >")
	}
	return c, nil
}
