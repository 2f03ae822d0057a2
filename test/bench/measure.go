package main

import (
	"fmt"
	"slices"
	"time"
)

// bench is one line of the table.
type bench struct {
	name, floorName string
	goal            string // what the figure or the ratio should be
	// prepare creates what both sides need and returns them. It is not timed.
	prepare func() (torchx, floor side, err error)
	runs    int
	bytes   int64 // read by each run; 0: the time is the figure
	unit    unit
	paired  bool // the ratio is the median of those of each pair, which a busy machine blurs less
}

// side is one of the two sides of a comparison. It returns its figure.
type side func() (float64, error)

// unit is the unit of a side's figure.
type unit int

const (
	seconds unit = iota
	bytesOfMemory
	calls // to a server
)

// result is a line of the table as text.
type result struct{ torchx, floor, ratio string }

// measure runs both sides alternately, so that both have the same conditions.
func (b bench) measure() (result, error) {
	torchx, floor, err := b.prepare()
	if err != nil {
		return result{}, err
	}
	var ours, floors []float64
	for range b.runs {
		v, err := torchx()
		if err != nil {
			return result{}, err
		}
		ours = append(ours, v)
		if v, err = floor(); err != nil {
			return result{}, fmt.Errorf("floor: %w", err)
		}
		floors = append(floors, v)
	}
	ratios := make([]float64, len(ours))
	for i := range ours {
		ratios[i] = ours[i] / floors[i]
	}
	o, f := median(ours), median(floors)
	ratio := fmt.Sprintf("%.2f", o/f)
	if b.paired {
		ratio = fmt.Sprintf("%.3f", median(ratios))
	}
	if b.bytes > 0 { // the ratio of speeds
		ratio = fmt.Sprintf("%.2f", f/o)
	}
	return result{b.figure(o), b.figure(f), ratio}, nil
}

func (b bench) figure(v float64) string {
	switch {
	case b.unit == bytesOfMemory:
		return fmt.Sprintf("%.1f MB", v/1e6)
	case b.unit == calls:
		return fmt.Sprintf("%.0f", v)
	case b.bytes > 0:
		return fmt.Sprintf("%.0f MB/s", float64(b.bytes)/1e6/v)
	}
	return fmt.Sprintf("%.2f ms", v*1e3)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// timed returns a side whose figure is the time of f, in seconds.
func timed(f func() error) side {
	return func() (float64, error) {
		start := time.Now()
		err := f()
		return time.Since(start).Seconds(), err
	}
}

// missingError is the reason why a benchmark cannot run on this machine.
type missingError struct{ err error }

func (m *missingError) Error() string { return m.err.Error() }
func (m *missingError) Unwrap() error { return m.err }
