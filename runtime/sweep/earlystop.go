package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"torchx/runtime/humanize"
)

// StopRule stops trials early by a metric. It sees values that are better when less.
type StopRule interface {
	// Add adds a value of a trial. Values that are not finite count as the worst. Steps that the
	// trial has passed before, since it was restarted, do not count again.
	Add(trial int, step int64, value float64)
	// Judge returns why a trial should stop, "" if it should not, by what was added since it was
	// judged before. It is called after some values instead of after each. The reason continues
	// "its metric is".
	Judge(trial int) (reason string)
}

// ParseStopRule parses --early-stop: "median[:MIN_STEP]" or "asha[:MIN_STEP[:FACTOR]]".
func ParseStopRule(text string) (StopRule, error) {
	name, rest, given := strings.Cut(text, ":")
	var numbers []int64
	if given {
		for part := range strings.SplitSeq(rest, ":") {
			n, err := strconv.ParseInt(part, 10, 32)
			if err != nil || n < 1 {
				return nil, fmt.Errorf("%s: %s is not a whole number from 1", humanize.Quote(text),
					humanize.Quote(part))
			}
			numbers = append(numbers, n)
		}
	}
	number := func(i int, otherwise int64) int64 {
		if i < len(numbers) {
			return numbers[i]
		}
		return otherwise
	}
	switch {
	case name == "median" && len(numbers) <= 1:
		return &median{minStep: number(0, 1), trials: map[int]*curve{}}, nil
	case name == "asha" && len(numbers) <= 2 && number(1, ashaFactor) > 1:
		return &asha{minStep: number(0, 1), factor: number(1, ashaFactor), next: map[int]int{}, reasons: map[int]string{}}, nil
	}
	return nil, fmt.Errorf("%s is not median[:MIN_STEP] or asha[:MIN_STEP[:FACTOR]] with a factor from 2", humanize.Quote(text))
}

// finite returns value, or the worst one if it is not finite.
func finite(value float64) float64 {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return math.Inf(1)
	}
	return value
}

// ashaFactor is the reduction factor of Li et al. (η = 4 in section 5).
const ashaFactor = 4

// asha is asynchronous successive halving (Li et al., "A System for Massively Parallel
// Hyperparameter Tuning", 2018, algorithm 2) in the form that stops trials instead of pausing
// them. Rung k is at step minStep*factor^k. A trial that reaches it goes on if its value is
// among the best 1/factor of those that have reached the rung so far.
type asha struct {
	minStep, factor int64
	rungs           [][]float64 // sorted values of the trials that reached a rung
	next            map[int]int // next rung of a trial
	reasons         map[int]string
}

func (a *asha) Add(trial int, step int64, value float64) {
	for at := a.step(a.next[trial]); step >= at && at < math.MaxInt64; at = a.step(a.next[trial]) {
		if reason := a.reach(a.next[trial], at, finite(value)); reason != "" &&
			a.reasons[trial] == "" {
			a.reasons[trial] = reason
		}
		a.next[trial]++
	}
}

func (a *asha) Judge(trial int) string {
	reason := a.reasons[trial]
	delete(a.reasons, trial)
	return reason
}

// step returns the step of a rung, math.MaxInt64 if there is no such step.
func (a *asha) step(rung int) int64 {
	at := a.minStep
	for range rung {
		if at > math.MaxInt64/a.factor {
			return math.MaxInt64
		}
		at *= a.factor
	}
	return at
}

func (a *asha) reach(k int, at int64, value float64) string {
	for len(a.rungs) <= k {
		a.rungs = append(a.rungs, nil)
	}
	place, _ := slices.BinarySearch(a.rungs[k], value)
	a.rungs[k] = slices.Insert(a.rungs[k], place, value)
	n := len(a.rungs[k])
	keep := n / int(a.factor)
	if keep == 0 || place < keep { // the first few are compared with too little
		return ""
	}
	return fmt.Sprintf("not among the best %d of %d at step %d", keep, n, at)
}

const (
	// medianTrials is how many other trials the median needs.
	medianTrials = 3
	// curvePoints is how many points of a trial's running mean are kept at most. With many
	// trials it is fewer, at least minCurvePoints: allCurvePoints for all of them together.
	curvePoints    = 128
	minCurvePoints = 16
	allCurvePoints = 64 << 10
)

// median is the median stopping rule (Golovin et al., "Google Vizier: A Service for Black-Box
// Optimization", 2017, section 3.2.2): a trial stops if its best value is worse than the
// median of the running means of the other trials up to the same step.
type median struct {
	minStep int64
	trials  map[int]*curve
}

// curve is the running mean of a trial's values, thinned.
type curve struct {
	points []meanPoint
	every  int64 // values per kept point, a power of two
	count  int64
	sum    float64
	best   float64
	last   int64 // step
}

type meanPoint struct {
	step int64
	mean float64
}

func (m *median) Add(trial int, step int64, value float64) {
	c := m.trials[trial]
	if c == nil {
		c = &curve{every: 1, best: math.Inf(1), last: math.MinInt64}
		m.trials[trial] = c
	}
	c.add(step, finite(value), max(minCurvePoints, min(curvePoints, allCurvePoints/len(m.trials))))
}

func (m *median) Judge(trial int) string {
	c := m.trials[trial]
	if c == nil || c.last < m.minStep {
		return ""
	}
	var others []float64
	for n, other := range m.trials {
		if mean, ok := other.meanAt(c.last); ok && n != trial {
			others = append(others, mean)
		}
	}
	if len(others) < medianTrials {
		return ""
	}
	slices.Sort(others)
	if c.best <= others[len(others)/2] {
		return ""
	}
	return fmt.Sprintf("worse than the median of %d others at step %d", len(others), c.last)
}

// add adds a value, and keeps at most limit points.
func (c *curve) add(step int64, value float64, limit int) {
	c.best = min(c.best, value)
	if step < c.last {
		return
	}
	c.count++
	c.sum += value
	c.last = step
	if c.count%c.every != 0 {
		return
	}
	if len(c.points) >= limit {
		half := len(c.points) / 2
		for i := range half {
			c.points[i] = c.points[2*i+1]
		}
		c.points, c.every = c.points[:half], c.every*2
	}
	c.points = append(c.points, meanPoint{step, c.sum / float64(c.count)})
}

// meanAt returns the running mean up to a step; ok is false if the trial has not reached it.
func (c *curve) meanAt(step int64) (mean float64, ok bool) {
	if c.last < step || len(c.points) == 0 {
		return 0, false
	}
	i, exact := slices.BinarySearchFunc(c.points, step, func(p meanPoint, step int64) int { return cmp.Compare(p.step, step) })
	if !exact && i > 0 {
		i--
	}
	return c.points[min(i, len(c.points)-1)].mean, true
}
