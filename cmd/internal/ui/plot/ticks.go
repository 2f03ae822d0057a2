package plot

import (
	"math"
	"strconv"
	"strings"
)

// tick is a labeled value of an axis; at is its position from 0 to 1.
type tick struct {
	at    float64
	label string
}

// Space for ticks.
const (
	rowsOfTick    = 2.5
	columnsOfTick = 12.0
	maxTicks      = 60 // of an axis, whatever its numbers
)

// ticks returns about count ticks.
func (s *scale) ticks(count float64) []tick {
	count = min(max(count, 1), maxTicks/2)
	lo, hi := s.lo, s.hi
	if s.axis == Log {
		if hi-lo >= 1 {
			return s.powers(count)
		}
		lo, hi = math.Pow(10, lo), math.Pow(10, hi)
	}
	step := niceStep(lo, hi, count)
	label := func(v float64) string { return numberLabel(v, step, max(math.Abs(lo), math.Abs(hi))) }
	switch s.axis {
	case Steps:
		step = max(step, 1)
	case Seconds:
		step = niceSeconds((hi - lo) / count)
		label = func(v float64) string { return secondsLabel(v, step) }
	}
	var out []tick
	for i, first := 0.0, math.Ceil(lo/step-1e-9); i < maxTicks; i++ {
		v := (first + i) * step
		if v > hi+step*1e-9 || !isFinite(v) {
			break
		}
		if at, ok := s.position(v); ok {
			out = append(out, tick{at, label(v)})
		}
	}
	return out
}

// powers returns ticks of a logarithmic scale at powers of ten, and between them at 2 and 5 times
// a power if there is room.
func (s *scale) powers(count float64) []tick {
	every, between := math.Ceil((s.hi-s.lo)/count), []float64{1}
	if every = max(every, 1); 3*(s.hi-s.lo) <= count*1.5 {
		between = []float64{1, 2, 5}
	}
	var out []tick
	for e := math.Floor(s.lo/every) * every; e <= s.hi+1e-9 && len(out) < maxTicks; e += every {
		for _, n := range between {
			at := share(e+math.Log10(n), s.lo, s.hi)
			if at > -1e-9 && at < 1+1e-9 {
				out = append(out, tick{min(max(at, 0), 1), powerLabel(int(n), int(e))})
			}
		}
	}
	return out
}

// powerLabel returns n times a power of ten.
func powerLabel(n, exponent int) string {
	if exponent < -4 || exponent > 5 {
		return strconv.Itoa(n) + "e" + strconv.Itoa(exponent)
	}
	return strconv.FormatFloat(float64(n)*math.Pow10(exponent), 'f', max(-exponent, 0), 64)
}

// numberLabel returns v with the digits that tell ticks of a step apart. largest is the largest
// magnitude on the axis.
func numberLabel(v, step, largest float64) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	switch {
	case largest >= 1e15 || decimals > 6:
		digits := int(math.Floor(math.Log10(math.Abs(v)))-math.Floor(math.Log10(step)+1e-9)) + 1
		return tidyExponent(strconv.FormatFloat(v, 'e', min(max(digits-1, 0), 16), 64))
	case largest >= 1e4 && step >= 100:
		return prefixed(v, step)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// prefixed returns a large number with k, M, G or T: 250k.
func prefixed(v, step float64) string {
	abs, prefix, unit := math.Abs(v), "", 1.0
	for _, p := range []string{"k", "M", "G", "T"} {
		if abs < unit*1000*0.999999 {
			break
		}
		unit, prefix = unit*1000, p
	}
	decimals := max(0, -int(math.Floor(math.Log10(step/unit)+1e-9)))
	return strconv.FormatFloat(v/unit, 'f', decimals, 64) + prefix
}

// tidyExponent shortens 1e+05 to 1e5.
func tidyExponent(text string) string {
	mantissa, exponent, _ := strings.Cut(text, "e")
	n, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	return mantissa + "e" + strconv.Itoa(n)
}

// niceTimes are the steps of a time axis in seconds.
var niceTimes = []float64{
	1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 3 * 3600, 6 * 3600, 12 * 3600, 86400,
}

func niceSeconds(rough float64) float64 {
	if rough < 1 {
		return niceStep(0, rough, 1)
	}
	for _, s := range niceTimes {
		if s >= rough*0.999 {
			return s
		}
	}
	return niceStep(0, rough/86400, 1) * 86400
}

// secondsLabel returns a time since the start in the units of the step: 90s, 1m30s, 2h, 3d.
func secondsLabel(v, step float64) string {
	if step < 1 {
		return strings.TrimSuffix(numberLabel(v, step, v), ".0") + "s"
	}
	var b strings.Builder
	left := int64(math.Round(v))
	for _, u := range []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}} {
		if n := left / u.seconds; n > 0 {
			b.WriteString(strconv.FormatInt(n, 10) + u.name)
			left %= u.seconds
		}
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}

// places returns the labels of n places along an axis, "" for most.
func places(ticks []tick, n int) []string {
	labels := make([]string, n)
	for _, t := range ticks {
		if at := int(math.Round(t.at * float64(n-1))); labels[at] == "" {
			labels[at] = t.label
		}
	}
	return labels
}
