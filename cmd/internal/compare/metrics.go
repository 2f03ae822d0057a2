package compare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"torchx/runtime/metrics"
)

// goals tell which values of metrics are best, and which metrics are compared.
type goals struct {
	only   []string                // names; empty: all
	byName map[string]metrics.Goal // decided by the user
}

// parseGoals reads the values of --metric.
func parseGoals(texts []string) (*goals, error) {
	g := &goals{byName: map[string]metrics.Goal{}}
	for _, text := range texts {
		name, goal, err := metrics.ParseGoal(text)
		if err != nil {
			return nil, err
		}
		if goal != "" {
			g.byName[name] = goal
		}
		g.only = append(g.only, name)
	}
	return g, nil
}

func (g *goals) of(name string) metrics.Goal {
	return cmp.Or(g.byName[name], metrics.GoalOf(name))
}

// metric is one metric of the comparison.
type metric struct {
	name string
	goal metrics.Goal
}

// value is a metric of one run.
type value struct {
	last, best float64 // the last is the best if the goal is not known
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
		m := metric{name, c.goals.of(name)}
		c.metrics = append(c.metrics, m)
		for _, r := range c.runs {
			r.values = append(r.values, r.valueOf(m))
		}
		c.markBest(len(c.metrics) - 1)
	}
}

func (r *run) valueOf(m metric) value {
	s, ok := r.metrics[m.name]
	v := value{last: s.Last, best: s.Last, known: ok, role: s.Role, replica: s.Replica}
	if m.goal != "" {
		v.best = m.goal.Best(&s)
	}
	return v
}

// markBest marks the runs whose best value of a metric is the best of all, if there are several
// and it is known which values are better.
func (c *comparison) markBest(at int) {
	if c.metrics[at].goal == "" {
		return
	}
	best, known := math.NaN(), 0
	for _, r := range c.runs {
		if v := r.values[at]; v.known && !math.IsNaN(v.best) {
			known++
			if math.IsNaN(best) || c.metrics[at].goal.Better(v.best, best) {
				best = v.best
			}
		}
	}
	for _, r := range c.runs {
		r.values[at].isBest = known > 1 && r.values[at].known && r.values[at].best == best
	}
}
