package sample

import "time"

// Track turns the readings of one attempt into samples. It keeps the peak of the memory.
type Track struct {
	Attempt int
	Peak    int64  // largest known memory in bytes; 0: unknown
	Source  string // of Peak

	age    time.Duration // when the track began
	began  time.Time
	last   time.Time
	cpu    *time.Duration // at the last reading
	bucket bucket
}

// bucket collects the readings of the next sample.
type bucket struct {
	readings      int
	seconds       float64
	cpu           *float64
	cpuPeak       *float64
	memory, gpu   mean
	memoryPeak    *int64
	read, written *int64
	threads       *int
	gpuPeak       *float64
	gpuMemory     *int64
	source        string
}

// mean is an average, weighted by time.
type mean struct{ sum, seconds float64 }

func (m *mean) add(v, seconds float64) { m.sum, m.seconds = m.sum+v*seconds, m.seconds+seconds }

func (m *mean) value() *float64 {
	if m.seconds <= 0 {
		return nil
	}
	v := m.sum / m.seconds
	return &v
}

// NewTrack returns the track of an attempt that has an age at now. Its counters are 0 at the
// start: an attempt that is older has a first reading without CPU use.
func NewTrack(attempt int, now time.Time, age time.Duration) *Track {
	t := &Track{Attempt: attempt, began: now, last: now, age: max(0, age)}
	if age == 0 {
		t.cpu = new(time.Duration)
	}
	return t
}

// Age returns the age of the attempt.
func (t *Track) Age(now time.Time) time.Duration { return t.age + max(0, now.Sub(t.began)) }

// Add adds a reading at now. Durations are measured by the monotonic clock: the system's may jump.
func (t *Track) Add(r *Reading, now time.Time) {
	took := now.Sub(t.last).Seconds()
	if took <= 0 || r.CPU == nil && r.Rate == nil && r.Memory == nil {
		return
	}
	t.last = now
	t.NotePeak(r)
	b := &t.bucket
	b.readings++
	b.seconds += took
	switch {
	case r.CPU != nil:
		b.addCPU(t.useOf(*r.CPU), took)
	case r.Rate != nil:
		used := *r.Rate / 100 * took
		b.addCPU(&used, took)
	}
	if r.Memory != nil {
		b.memory.add(float64(*r.Memory), took)
		b.memoryPeak, b.source = larger(b.memoryPeak, r.Memory), r.Source
	}
	b.read, b.written = larger(b.read, r.Read), larger(b.written, r.Written)
	b.threads = larger(b.threads, r.Threads)
	if r.GPU != nil {
		b.gpu.add(*r.GPU, took)
		b.gpuPeak = larger(b.gpuPeak, r.GPU)
	}
	b.gpuMemory = larger(b.gpuMemory, r.GPUMemory)
}

// useOf returns the CPU time since the last reading, nil if that is unknown.
func (t *Track) useOf(cpu time.Duration) *float64 {
	before := t.cpu
	t.cpu = &cpu
	if before == nil {
		return nil
	}
	used := max(0, cpu-*before).Seconds()
	return &used
}

func (b *bucket) addCPU(used *float64, took float64) {
	if used == nil {
		return
	}
	total := *used
	if b.cpu != nil {
		total += *b.cpu
	}
	percent := 100 * *used / took
	b.cpu = &total
	b.cpuPeak = larger(b.cpuPeak, &percent)
}

// NotePeak keeps the largest memory. The kernel's own peak includes what was between two readings.
func (t *Track) NotePeak(r *Reading) {
	for _, n := range []*int64{r.Memory, r.Peak} {
		if n != nil && *n > t.Peak {
			t.Peak, t.Source = *n, PeakSource(r.Source)
		}
	}
}

// PeakSource returns the source of a peak among amounts of memory with a source.
func PeakSource(source string) string {
	if source == PSS {
		return Tree
	}
	return source
}

// Take returns the next sample if it is due: written is the size of the replica's file. With last
// it returns what is left.
func (t *Track) Take(now time.Time, written int64, last bool) (Sample, bool) {
	b := t.bucket
	if b.readings == 0 || !last && b.seconds < (recordEvery(t.Age(now), written)-second/4).Seconds() {
		return Sample{}, false
	}
	t.bucket = bucket{}
	s := Sample{
		Time: now.Round(0), Attempt: t.Attempt, Seconds: b.seconds, CPUSeconds: b.cpu, CPUPeak: b.cpuPeak, MemoryPeak: b.memoryPeak,
		Read: b.read, Written: b.written, Threads: b.threads, GPU: b.gpu.value(), GPUPeak: b.gpuPeak, GPUMemory: b.gpuMemory, Source: b.source,
	}
	if m := b.memory.value(); m != nil {
		n := int64(*m)
		s.Memory = &n
	}
	return s, true
}

func larger[T int | int64 | float64](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}
