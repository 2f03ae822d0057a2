package usage

import (
	"cmp"
	"context"
	"slices"
	"time"

	"torchx/runtime/runner"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// Attempt is what one attempt of a replica used.
type Attempt struct {
	spec.ReplicaStatus

	Samples []sample.Sample // oldest first
	Unknown string          // why there are no samples; "" if there are
}

// Record is what an app used.
type Record struct {
	Status   *spec.Status
	Attempts []Attempt // by role as in the status, replica and attempt
	Unknown  string    // why there are no samples of any attempt; "" if there are some
}

// Recorder reads what an app used, repeatedly. Of an app that no agent samples it keeps what its
// backend says each time.
type Recorder struct {
	Runner *runner.Runner
	Ref    runner.Ref

	tracks map[spec.Replica]*sample.Track
	live   []sample.Series
}

// Read returns what is known now. Errors: those of runner.Status and of reading the samples.
func (r *Recorder) Read(ctx context.Context) (*Record, error) {
	s, err := r.Runner.Status(ctx, r.Ref)
	if err != nil {
		return nil, err
	}
	can, err := r.Runner.Backends.Capabilities(r.Ref.Backend)
	if err != nil {
		return nil, err
	}
	var series []sample.Series
	unknown := "its backend does not tell what replicas use"
	if can.Usage != nil {
		dir, missing := can.Usage.UsageDir(ctx, r.Ref.ID)
		if series, err = sample.Read(dir); err != nil {
			return nil, err
		}
		unknown = cmp.Or(sample.Reason(dir), missing,
			"torchx did not record it (an earlier version started the app)")
	}
	if can.Meter != nil && len(series) == 0 && !s.State.Terminal() {
		readings, err := can.Meter.Usage(ctx, r.Ref.ID)
		if err != nil {
			unknown = err.Error()
		}
		series = r.addLive(s, readings, time.Now())
	}
	return newRecord(s, series, unknown), nil
}

// addLive adds readings of running replicas as samples.
func (r *Recorder) addLive(
	s *spec.Status, readings map[spec.Replica]sample.Reading, now time.Time,
) []sample.Series {
	if r.tracks == nil {
		r.tracks = map[spec.Replica]*sample.Track{}
	}
	for _, role := range s.Roles {
		for i := range role.Replicas {
			replica := spec.Replica{Role: role.Role, ID: role.Replicas[i].ID}
			reading, ok := readings[replica]
			if !ok {
				continue
			}
			t := r.tracks[replica]
			if t == nil || t.Attempt != role.Replicas[i].Attempt {
				t = sample.NewTrack(role.Replicas[i].Attempt, now.Add(-time.Second), time.Second)
				r.tracks[replica] = t
				r.live = append(r.live, sample.Series{Replica: replica, Attempt: t.Attempt})
			}
			t.Add(&reading, now)
			if next, ok := t.Take(now, 0, true); ok {
				at := slices.IndexFunc(r.live, func(old sample.Series) bool { return old.Replica == replica && old.Attempt == t.Attempt })
				r.live[at].Samples = append(r.live[at].Samples, next)
			}
		}
	}
	return r.live
}

// newRecord joins the attempts of a status with their samples.
func newRecord(s *spec.Status, series []sample.Series, unknown string) *Record {
	rec := &Record{Status: s}
	add := func(a spec.ReplicaStatus) {
		at := slices.IndexFunc(series, func(x sample.Series) bool {
			return x.Replica == spec.Replica{Role: a.Role, ID: a.ID} && x.Attempt == a.Attempt
		})
		one := Attempt{ReplicaStatus: a}
		if at >= 0 {
			one.Samples = series[at].Samples
			series = slices.Delete(series, at, at+1)
		}
		if len(one.Samples) == 0 {
			one.Unknown = why(&a, unknown)
		}
		rec.Attempts = append(rec.Attempts, one)
	}
	for _, a := range s.Past {
		add(a)
	}
	for _, role := range s.Roles {
		for _, a := range role.Replicas {
			a.Role = role.Role
			add(a)
		}
	}
	for _, x := range series { // the status has forgotten them, or the cluster has
		rec.Attempts = append(rec.Attempts, Attempt{
			ReplicaStatus: spec.ReplicaStatus{Role: x.Replica.Role, ID: x.Replica.ID, Attempt: x.Attempt, State: spec.Unknown}, Samples: x.Samples,
		})
	}
	order := func(role string) int {
		return slices.IndexFunc(s.Roles, func(r spec.RoleStatus) bool { return r.Role == role })
	}
	slices.SortStableFunc(rec.Attempts, func(a, b Attempt) int {
		return cmp.Or(order(a.Role)-order(b.Role), cmp.Compare(a.Role, b.Role), a.ID-b.ID,
			a.Attempt-b.Attempt)
	})
	if !slices.ContainsFunc(rec.Attempts, func(a Attempt) bool { return len(a.Samples) > 0 }) {
		rec.Unknown = unknown
		for i := range rec.Attempts {
			rec.Unknown = rec.Attempts[i].Unknown
		}
	}
	return rec
}

// brief is how short an attempt is that may end before its first sample.
const brief = time.Second

// why returns why an attempt has no samples.
func why(a *spec.ReplicaStatus, unknown string) string {
	switch {
	case a.StartedAt == nil:
		return "it has not started"
	case a.FinishedAt != nil && a.FinishedAt.Sub(*a.StartedAt) < brief:
		return "it ended before the first sample"
	case a.FinishedAt == nil && time.Since(*a.StartedAt) < brief:
		return "it has just started"
	}
	return unknown
}

// Summary returns the peaks and means of an attempt; without samples those that the status has.
// The peak of the memory is that of the status if it is larger: the kernel also knows what was
// between two samples.
func (a *Attempt) Summary() (sum sample.Summary, peakSource string) {
	sum = sample.Summarize(a.Samples)
	if sum.MemoryPeak != nil {
		peakSource = sample.PeakSource(sum.Source)
	}
	if sum.CPUMean == nil && a.CPUSeconds != nil && a.StartedAt != nil && a.FinishedAt != nil {
		if took := a.FinishedAt.Sub(*a.StartedAt).Seconds(); took > 0 {
			percent := 100 * *a.CPUSeconds / took
			sum.CPUMean = &percent
		}
	}
	if a.MaxRSSBytes != nil && (sum.MemoryPeak == nil || *a.MaxRSSBytes >= *sum.MemoryPeak) {
		sum.MemoryPeak, peakSource = a.MaxRSSBytes, a.MaxRSSSource
	}
	return sum, peakSource
}
