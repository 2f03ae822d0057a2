package plot

import "math"

// scale maps the values of an axis to the range from 0 to 1. A logarithmic scale keeps its
// bounds as powers of ten.
type scale struct {
	axis   Axis
	lo, hi float64
}

// newScale returns a scale for values from lo to hi, which are infinite if there are none.
func newScale(axis Axis, lo, hi float64) *scale {
	if lo > hi {
		lo, hi = 0, 1
		if axis == Log {
			lo = 0.1
		}
	}
	s := &scale{axis, lo, hi}
	if axis == Log {
		s.lo, s.hi = math.Log10(lo), math.Log10(hi)
	}
	if s.lo == s.hi {
		s.pad()
	}
	return s
}

// pad makes room around the only value of a scale.
func (s *scale) pad() {
	room := math.Abs(s.lo) / 10
	switch {
	case s.axis == Steps || s.axis == Seconds:
		s.hi += max(1, math.Nextafter(s.hi, math.Inf(1))-s.hi)
		return
	case s.axis == Log:
		room = 0.5
	case s.lo-room == s.lo:
		room = 1
	}
	s.lo, s.hi = max(s.lo-room, -math.MaxFloat64), min(s.hi+room, math.MaxFloat64)
}

// widen moves the bounds to ticks that are near.
func (s *scale) widen(count float64) {
	if s.axis != Linear {
		return
	}
	const near = 0.08 // of the whole range
	step := niceStep(s.lo, s.hi, count)
	if lo := math.Floor(s.lo/step) * step; share(s.lo, lo, s.hi) < near && isFinite(lo) {
		s.lo = lo
	}
	if hi := math.Ceil(s.hi/step) * step; 1-share(s.hi, s.lo, hi) < near && isFinite(hi) {
		s.hi = hi
	}
}

// position returns where v lies from 0 to 1; ok is false if the scale cannot show it.
func (s *scale) position(v float64) (at float64, ok bool) {
	if s.axis == Log {
		if !(v > 0) {
			return 0, false
		}
		v = math.Log10(v)
	}
	if !isFinite(v) {
		return 0, false
	}
	return min(max(share(v, s.lo, s.hi), 0), 1), true
}

// niceStep returns 1, 2 or 5 times a power of ten, so that about count steps lie between lo and hi.
func niceStep(lo, hi, count float64) float64 {
	rough := hi/count - lo/count
	power := math.Pow10(int(math.Floor(math.Log10(rough))))
	if power == 0 || !isFinite(power) {
		return math.SmallestNonzeroFloat64
	}
	for _, n := range []float64{1, 2, 5} {
		if rough < 1.5*n*power {
			return n * power
		}
	}
	return 10 * power
}
