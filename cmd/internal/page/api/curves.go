package api

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
	"torchx/runtime/sample"
	"torchx/runtime/usage"
)

// Limits of curves.
const (
	defaultBuckets = 512
	maxBuckets     = 4096
	maxSeries      = 500
)

// curveQuery selects series and a part of them.
type curveQuery struct {
	names, roles []string
	replicas     []int
	byTime       bool
	from, to     float64
	zoomed       bool // from or to is given
	buckets      int
}

func newCurveQuery(p url.Values) (q curveQuery, err error) {
	q = curveQuery{names: p["name"], roles: p["role"], from: math.Inf(-1), to: math.Inf(1), buckets: defaultBuckets}
	switch p.Get("x") {
	case "time":
		q.byTime = true
	case "", "step":
	default:
		return q, bad("x %s: want step or time", ui.QuoteWord(p.Get("x")))
	}
	for _, text := range p["replica"] {
		n, err := strconv.Atoi(text)
		if err != nil {
			return q, bad("replica %s is not a number", ui.QuoteWord(text))
		}
		q.replicas = append(q.replicas, n)
	}
	for name, to := range map[string]*float64{"from": &q.from, "to": &q.to} {
		if text := p.Get(name); text != "" {
			if *to, err = strconv.ParseFloat(text, 64); err != nil || math.IsNaN(*to) {
				return q, bad("%s %s is not a number", name, ui.QuoteWord(text))
			}
			q.zoomed = true
		}
	}
	if text := p.Get("buckets"); text != "" {
		if q.buckets, err = strconv.Atoi(text); err != nil || q.buckets < 1 ||
			q.buckets > maxBuckets {
			return q, bad("buckets %s: want a number from 1 to %d", ui.QuoteWord(text), maxBuckets)
		}
	}
	return q, nil
}

func (q *curveQuery) selects(role string, replica int, name string) bool {
	has := func(list []string, s string) bool { return len(list) == 0 || slices.Contains(list, s) }
	return has(q.names, name) && has(q.roles, role) &&
		(len(q.replicas) == 0 || slices.Contains(q.replicas, replica))
}

// curves answers with metrics in buckets.
func (a *API) curves(w http.ResponseWriter, r *http.Request) {
	q, err := newCurveQuery(r.URL.Query())
	if err != nil {
		fail(w, err)
		return
	}
	a.shared(w, r, func(ctx context.Context) ([]byte, error) {
		found, err := a.readCurves(ctx, handleOf(r), &q)
		if err != nil {
			return nil, err
		}
		return json.Marshal(found)
	})
}

func (a *API) readCurves(ctx context.Context, handle string, q *curveQuery) (*Curves, error) {
	ref, err := a.runner.Resolve(ctx, handle)
	if err != nil {
		return nil, err
	}
	dir, err := a.runner.Metrics(ctx, ref)
	if err != nil {
		return nil, err
	}
	all, err := metrics.Summaries(dir)
	if err != nil && len(all) == 0 {
		return nil, err
	}
	found := &Curves{Series: []Curve{}}
	var keys []metrics.Key
	for i := range all {
		s := &all[i]
		if !q.selects(s.Role, s.Replica, s.Name) || len(keys) == maxSeries {
			continue
		}
		keys = append(keys, s.Key)
		found.Series = append(found.Series, Curve{AppID: ref.ID, Role: s.Role, Replica: s.Replica, Name: s.Name, Count: s.Count, Buckets: []Bucket{}})
	}
	kept, err := metrics.Curves(dir, keys...)
	if err != nil {
		return nil, err
	}
	for i := range found.Series {
		if err := found.Series[i].fill(ctx, q, dir, keys[i], kept[keys[i]]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// fill sets the buckets of a curve: those that are kept with the points, or if a part of the curve
// or fewer buckets are asked for, those of the points in it.
func (c *Curve) fill(
	ctx context.Context, q *curveQuery, dir string, k metrics.Key, kept []metrics.Bucket,
) error {
	byTime := q.byTime || slices.ContainsFunc(kept, func(b metrics.Bucket) bool { return !b.HasStep })
	if c.X = "step"; byTime {
		c.X = "time"
	}
	if !q.zoomed {
		c.Buckets = join(kept, q.buckets, byTime)
		return nil
	}
	points, err := metrics.Points(dir, k)
	if err != nil {
		return err
	}
	c.Buckets, err = bucketed(ctx, points, q, byTime)
	return err
}

// encode returns a bucket in the form of the API, with steps or times.
func encode(b *metrics.Bucket, byTime bool) Bucket {
	x0, x1 := float64(b.FirstStep), float64(b.LastStep)
	if byTime {
		x0, x1 = float64(b.FirstTime)/1e9, float64(b.LastTime)/1e9
	}
	encoded := Bucket{}
	for i, v := range [...]float64{x0, x1, b.First, b.Last, b.Min, b.Max, float64(b.Count), float64(b.Segment)} {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			encoded[i] = &v
		}
	}
	return encoded
}

// join returns at most so many buckets, and one more for each segment.
func join(parts []metrics.Bucket, most int, byTime bool) []Bucket {
	size := (len(parts) + most - 1) / max(most, 1)
	buckets := []Bucket{}
	for i := 0; i < len(parts); {
		p := parts[i]
		n := 1
		for i+n < len(parts) && n < size && parts[i+n].Segment == p.Segment {
			p.Join(&parts[i+n])
			n++
		}
		buckets = append(buckets, encode(&p, byTime))
		i += n
	}
	return buckets
}

// bucketed returns the points of a query in buckets. Points that are kept are joined in pairs when
// they become too many, so that a series of any length takes the same memory.
func bucketed(
	ctx context.Context, points iter.Seq2[metrics.Point, error], q *curveQuery, byTime bool,
) ([]Bucket, error) {
	const room = 4 * maxBuckets
	var parts []metrics.Bucket
	size, read := int64(1), 0
	for point, err := range points {
		if err != nil {
			return nil, err
		}
		if read++; read%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		x := float64(point.Step)
		if byTime {
			x = float64(point.Time.UnixNano()) / 1e9
		}
		if x < q.from || x > q.to {
			continue
		}
		p := metrics.NewBucket(&point)
		if last := len(parts) - 1; last >= 0 && parts[last].Count < size &&
			parts[last].Segment == p.Segment {
			parts[last].Join(&p)
			continue
		}
		parts = append(parts, p)
		if len(parts) == room {
			parts, size = metrics.Halve(parts, false), size*2
		}
	}
	return join(parts, q.buckets, byTime), nil
}

// usageCurves answers with usage in buckets.
func (a *API) usageCurves(w http.ResponseWriter, r *http.Request) {
	q, err := newCurveQuery(r.URL.Query())
	if err != nil {
		fail(w, err)
		return
	}
	ref, err := a.runner.Resolve(r.Context(), handleOf(r))
	if err != nil {
		fail(w, err)
		return
	}
	rec, err := (&usage.Recorder{Runner: a.runner, Ref: ref}).Read(r.Context())
	if err != nil {
		fail(w, err)
		return
	}
	found := &Curves{Series: []Curve{}}
	for _, amount := range amounts {
		for i := 0; i < len(rec.Attempts); {
			role, id := rec.Attempts[i].Role, rec.Attempts[i].ID
			var parts []metrics.Bucket
			for ; i < len(rec.Attempts) && rec.Attempts[i].Role == role &&
				rec.Attempts[i].ID == id; i++ {
				parts = appendUsage(parts, &rec.Attempts[i], amount.of, &q)
			}
			if len(parts) == 0 || !q.selects(role, id, amount.name) ||
				len(found.Series) == maxSeries {
				continue
			}
			found.Series = append(found.Series, Curve{
				AppID: ref.ID, Role: role, Replica: id, Name: amount.name, X: "time", Count: int64(len(parts)), Buckets: join(parts, q.buckets, true),
			})
		}
	}
	answer(w, found)
}

// amounts are the curves of usage, named as in `usage --json`: the mean and the peak of a sample.
var amounts = []struct {
	name string
	of   func(s *sample.Sample) (mean, peak float64)
}{
	{"mean_cpu_percent", func(s *sample.Sample) (float64, float64) { return known(s.CPUPercent()), known(s.CPUPeak) }},
	{"mean_rss_bytes", func(s *sample.Sample) (float64, float64) { return known(s.Memory), known(s.MemoryPeak) }},
	{"read_bytes", func(s *sample.Sample) (float64, float64) { return known(s.Read), known(s.Read) }},
	{"written_bytes", func(s *sample.Sample) (float64, float64) { return known(s.Written), known(s.Written) }},
	{"max_threads", func(s *sample.Sample) (float64, float64) { return known(s.Threads), known(s.Threads) }},
	{"mean_gpu_percent", func(s *sample.Sample) (float64, float64) { return known(s.GPU), known(s.GPUPeak) }},
	{"max_gpu_memory_bytes", func(s *sample.Sample) (float64, float64) { return known(s.GPUMemory), known(s.GPUMemory) }},
}

func known[T int | int64 | float64](v *T) float64 {
	if v == nil {
		return math.NaN()
	}
	return float64(*v)
}

// appendUsage appends the samples of an attempt in which an amount is known.
func appendUsage(parts []metrics.Bucket, at *usage.Attempt,
	of func(*sample.Sample) (mean, peak float64), q *curveQuery,
) []metrics.Bucket {
	for i := range at.Samples {
		s := &at.Samples[i]
		mean, peak := of(s)
		x := float64(s.Time.UnixNano()) / 1e9
		if math.IsNaN(mean) && math.IsNaN(peak) || x < q.from || x > q.to {
			continue
		}
		b := metrics.NewBucket(&metrics.Point{Time: s.Time, Segment: at.Attempt, Value: mean})
		b.FirstTime -= int64(s.Seconds * 1e9)
		if !math.IsNaN(peak) && (math.IsNaN(b.Max) || peak > b.Max) { // the mean may be unknown
			b.Max = peak
		}
		parts = append(parts, b)
	}
	return parts
}
