package main

import (
	"errors"
	"math"
	"path"
	"path/filepath"
	"time"

	"torchx/runtime/metrics"
)

// metrics benchmarks the first screen of a series of ten million points.
func (w *environment) metrics(s sizes) []bench {
	const points = 10_000_000
	at := w.in("metrics")
	return []bench{{
		name: "metrics, 10,000,000 points", goal: "< 300 ms", floorName: libraries, runs: s.runs,
		prepare: func() (side, side, error) {
			handle, err := at.run("-- true", "")
			if err != nil {
				return nil, nil, err
			}
			if err := fillMetrics(filepath.Join(at.home, "apps", path.Base(handle)), points); err != nil {
				return nil, nil, err
			}
			return at.torchx("metrics " + handle + " loss --plot > /dev/null"), w.command(w.floor()), nil
		},
	}}
}

// fillMetrics adds points of one series to the folder of an app.
func fillMetrics(dir string, points int) (err error) {
	store, err := metrics.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	begin := time.Now()
	for i := range points {
		p := metrics.Point{Time: begin.Add(time.Duration(i) * time.Microsecond), Step: int64(i), HasStep: true, Value: 2*math.Exp(-float64(i)/2e6) + 0.1*math.Sin(float64(i))}
		store.Add(metrics.Key{Role: "sh", Name: "loss"}, p, metrics.SourceFile)
		if i%100_000 == 99_999 {
			if err := store.Flush(nil); err != nil {
				return err
			}
		}
	}
	return store.Flush(nil)
}
