package api

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"torchx/runtime/metrics"
)

// series yields n points whose value is that of f, with a new segment in the middle.
func series(n int, f func(i int) float64) func(yield func(metrics.Point, error) bool) {
	return func(yield func(metrics.Point, error) bool) {
		for i := range n {
			if !yield(metrics.Point{Step: int64(i), HasStep: true, Time: time.Unix(int64(i), 0), Value: f(i), Segment: 2 * i / n}, nil) {
				return
			}
		}
	}
}

func TestBuckets(t *testing.T) {
	t.Parallel()
	const n, most = 1_000_000, 100
	value := func(i int) float64 {
		switch i {
		case 123_456:
			return -7
		case 654_321:
			return 9
		case 500:
			return math.NaN()
		case 501:
			return math.Inf(1)
		}
		return float64(i % 2)
	}
	q := &curveQuery{from: 0, to: math.Inf(1), buckets: most}
	buckets, err := bucketed(context.Background(), series(n, value), q, false)
	if err != nil {
		t.Fatal(err)
	}
	if len(buckets) > most+2 {
		t.Errorf("got %d buckets, want about %d", len(buckets), most)
	}
	count, least, greatest, next := 0.0, 0.0, 0.0, 0.0
	for _, b := range buckets {
		if *b[0] != next {
			t.Fatalf("got a bucket that begins at %v, want %v", *b[0], next)
		}
		next = *b[1] + 1
		count += *b[6]
		least, greatest = min(least, *b[4]), max(greatest, *b[5])
	}
	if count != n || least != -7 || greatest != 9 {
		t.Errorf("got %v points from %v to %v, want %d from -7 to 9", count, least, greatest, n)
	}
	q = &curveQuery{from: 123_450, to: 123_460, buckets: most}
	if buckets, err = bucketed(context.Background(), series(n, value), q, true); err != nil || len(buckets) != 11 {
		t.Errorf("got %d buckets and error %v of 11 points, want 11", len(buckets), err)
	}
}

func TestBucketOfNoFiniteValue(t *testing.T) {
	t.Parallel()
	q := &curveQuery{from: math.Inf(-1), to: math.Inf(1), buckets: 10}
	buckets, err := bucketed(context.Background(), series(1, func(int) float64 { return math.NaN() }), q, false)
	if err != nil || len(buckets) != 1 {
		t.Fatalf("got %d buckets and error %v, want 1", len(buckets), err)
	}
	if b := buckets[0]; b[2] != nil || b[4] != nil || b[5] != nil || *b[6] != 1 {
		t.Errorf("got %v, want null for what is not finite", b)
	}
	broken := errors.New("broken")
	_, err = bucketed(context.Background(), func(yield func(metrics.Point, error) bool) { yield(metrics.Point{}, broken) }, q, false)
	if !errors.Is(err, broken) {
		t.Errorf("got error %v, want %v", err, broken)
	}
}
