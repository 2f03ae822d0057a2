package compare

import (
	"maps"
	"math"
	"slices"

	"torchx/runtime/metrics"
)

// goals tell which values of metrics are best, and which metrics are compared.
type goals struct {
	only []string        // names; empty: all
	max  map[string]bool // by name: decided by the user
}

// parseGoals reads the values of --metric.
func parseGoals(texts []string) (*goals, error) {
	g := &goals{max: map[string]bool{}}
	for _, text := range texts {
		name, isMax, known, err := metrics.ParseGoal(text)
		if err != nil {
			return nil, err
		}
		if known {
			g.max[name] = isMax
		}
		g.only = append(g.only, name)
	}
	return g, nil
}

// isMax reports whether the greatest value of a metric is the best.
func (g *goals) isMax(name string) bool {
	if decided, ok := g.max[name]; ok {
		return decided
	}
	return metrics.MoreIsBetter(name)
}

// metric is one metric of the comparison.
type metric struct {
	name  string
	isMax bool
}

// value is a metric of one run.
type value struct {
	last, best float64
	known      bool
	role       string
	replica    int
	isBest     bool // of all runs
}

// compareMetrics finds the values of all metrics, and the best of each.
func (c *comparison) compareMetrics() {
	names := map[string]bool{}
	for _, r := range c.runs {
		for name := range r.metrics {
			if len(c.goals.only) == 0 || slices.Contains(c.goals.only, name) {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		m := metric{name, c.goals.isMax(name)}
		c.metrics = append(c.metrics, m)
		for _, r := range c.runs {
			r.values = append(r.values, r.valueOf(m))
		}
		c.markBest(len(c.metrics) - 1)
	}
}

func (r *run) valueOf(m metric) value {
	s, ok := r.metrics[m.name]
	v := value{last: s.Last, best: s.Min, known: ok, role: s.Role, replica: s.Replica}
	if m.isMax {
		v.best = s.Max
	}
	return v
}

// markBest marks the runs whose best value of a metric is the best of all, if runs differ.
func (c *comparison) markBest(at int) {
	best, known := math.NaN(), 0
	for _, r := range c.runs {
		if v := r.values[at]; v.known && !math.IsNaN(v.best) {
			known++
			if math.IsNaN(best) || c.metrics[at].better(v.best, best) {
				best = v.best
			}
		}
	}
	for _, r := range c.runs {
		r.values[at].isBest = known > 1 && r.values[at].known && r.values[at].best == best
	}
}

func (m metric) better(a, b float64) bool {
	if m.isMax {
		return a > b
	}
	return a < b
}
