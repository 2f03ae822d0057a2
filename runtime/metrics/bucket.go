package metrics

import "math"

// Bucket summarizes successive points of a series, for a plot. Min and Max are as in Summary.
type Bucket struct {
	Count, NonFinite    int64
	Segment             int // of the first point
	FirstStep, LastStep int64
	HasStep             bool  // all points have a step
	FirstTime, LastTime int64 // unix nanoseconds
	First, Last         float64
	Min, Max            float64
}

// NewBucket returns a bucket with one point.
func NewBucket(p *Point) Bucket {
	t := p.Time.UnixNano()
	b := Bucket{
		Count: 1, Segment: p.Segment, FirstStep: p.Step, LastStep: p.Step, HasStep: p.HasStep, FirstTime: t, LastTime: t,
		First: p.Value, Last: p.Value, Min: p.Value, Max: p.Value,
	}
	if !isFinite(p.Value) {
		b.NonFinite, b.Min, b.Max = 1, math.NaN(), math.NaN()
	}
	return b
}

// Join extends a bucket by the next one.
func (b *Bucket) Join(c *Bucket) {
	b.Count, b.NonFinite = b.Count+c.Count, b.NonFinite+c.NonFinite
	b.LastStep, b.LastTime, b.Last, b.HasStep = c.LastStep, c.LastTime, c.Last, b.HasStep && c.HasStep
	b.Min, b.Max = least(b.Min, c.Min), greatest(b.Max, c.Max)
}

// Halve joins neighbors, of one segment only unless across is set, in the memory of the buckets.
func Halve(buckets []Bucket, across bool) []Bucket {
	kept := buckets[:0]
	for i := 0; i < len(buckets); i++ {
		b := buckets[i]
		if i+1 < len(buckets) && (across || buckets[i+1].Segment == b.Segment) {
			i++
			b.Join(&buckets[i])
		}
		kept = append(kept, b)
	}
	return kept
}

// least and greatest ignore NaN.
func least(a, b float64) float64 {
	if math.IsNaN(a) || b < a {
		return b
	}
	return a
}

func greatest(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}
