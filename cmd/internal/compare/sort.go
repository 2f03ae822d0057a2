package compare

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"torchx/cmd/internal/ui"
	"torchx/runtime/humanize"
)

// orders has the value by which runs are sorted, the least first; ok is false if it is unknown.
var orders = map[string]func(r *run) (v float64, ok bool){
	"started": func(r *run) (float64, bool) {
		if r.status.StartedAt == nil {
			return 0, false
		}
		return float64(r.status.StartedAt.UnixNano()), true
	},
	"duration": func(r *run) (float64, bool) {
		d := r.duration()
		if d == nil {
			return 0, false
		}
		return float64(*d), true
	},
	"state":   func(r *run) (float64, bool) { return float64(r.status.State), true },
	"retries": func(r *run) (float64, bool) { return float64(r.status.NumRestarts), true },
	"memory": func(r *run) (float64, bool) {
		n := r.peakMemory()
		if n == nil {
			return 0, false
		}
		return float64(*n), true
	},
}

// sort sorts the runs; "" keeps their order. Runs without the value come last.
func (c *comparison) sort(by string) error {
	if by == "" {
		return nil
	}
	key := orders[by]
	if key == nil {
		at := slices.IndexFunc(c.metrics, func(m metric) bool { return m.name == by })
		if at < 0 {
			known := ui.Keys(orders)
			for _, m := range c.metrics {
				known = append(known, m.name)
			}
			return fmt.Errorf("%s is neither a column nor a metric of these runs.%s",
				ui.QuoteWord(by), humanize.Hint(by, known))
		}
		key = func(r *run) (float64, bool) {
			v := r.values[at]
			return c.metrics[at].goal.Cost(v.best), v.known && !math.IsNaN(v.best)
		}
	}
	slices.SortStableFunc(c.runs, func(a, b *run) int {
		x, knownX := key(a)
		y, knownY := key(b)
		switch {
		case knownX && knownY:
			return cmp.Compare(x, y)
		case knownX:
			return -1
		case knownY:
			return 1
		}
		return 0
	})
	return nil
}
