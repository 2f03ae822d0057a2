package agent

import (
	"context"
	"log"
	"sync"
	"time"

	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

const (
	// measureTimeout bounds one round of readings.
	measureTimeout = 5 * time.Second
	// closeWait bounds how long the end of an app waits for its last samples.
	closeWait = 200 * time.Millisecond
	// drift is how much earlier than planned an attempt may be measured together with others.
	drift = 50 * time.Millisecond
	// batch is how many samples of a second are written together, after the age batchAge: to open a
	// file costs more than to measure an idle replica.
	batch    = 5
	batchAge = 10 * time.Second
)

// sampler measures the running attempts from its own goroutine and appends their samples to the
// bundle. It is best effort: no method that the agent's loop calls blocks, apart from close, and
// its failures do not affect the app.
type sampler struct {
	appDir string
	meter  Meter // nil: nothing is measured
	log    *log.Logger
	gpus   GPUMeter

	mu      sync.Mutex // never held while something is read or written
	running map[spec.Replica]*measured
	ended   []*measured // have samples to write
	started bool        // the goroutine runs
	closing bool

	ctx    context.Context // canceled by close
	cancel context.CancelFunc
	wake   chan struct{}
	done   chan struct{} // the goroutine has ended
	files  map[spec.Replica]*sample.File
	failed bool // a write has failed
	reason string
}

// measured is an attempt that is measured.
type measured struct {
	Running

	devices []string
	track   *sample.Track
	resumed bool      // a former agent may have written samples
	due     time.Time // of the next reading
	pending []sample.Sample
}

func newSampler(appDir string, l Launcher, logger *log.Logger) *sampler {
	meter, _ := l.(Meter)
	ctx, cancel := context.WithCancel(context.Background())
	return &sampler{
		ctx: ctx, cancel: cancel,
		appDir: appDir, meter: meter, log: logger, running: map[spec.Replica]*measured{}, files: map[spec.Replica]*sample.File{},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// begin starts to measure an attempt. age is 0 for one that has just started.
func (s *sampler) begin(r Running, devices []string, age time.Duration) {
	if s == nil || s.meter == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return
	}
	now := time.Now()
	s.running[r.Replica] = &measured{
		Running: r, devices: devices, track: sample.NewTrack(r.Attempt, now, age), resumed: age > 0,
		due: now.Add(sample.MeasureEvery(0)),
	}
	if !s.started {
		s.started = true
		go s.loop()
	}
	s.notify()
}

// end stops measuring an attempt and returns its usage: what the launcher knows, with the peak
// that was sampled if that is larger.
func (s *sampler) end(r spec.Replica, attempt int, u *Usage) *Usage {
	if s == nil {
		return u
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.running[r]
	if m == nil || m.Attempt != attempt {
		return u
	}
	delete(s.running, r)
	s.ended = append(s.ended, m)
	s.notify()
	if m.track.Peak == 0 || u != nil && (u.MaxRSS >= m.track.Peak || u.Source == sample.Cgroup) {
		return u
	}
	merged := Usage{MaxRSS: m.track.Peak, Source: m.track.Source}
	if u != nil {
		merged.CPU = u.CPU
	}
	return &merged
}

func (s *sampler) notify() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// close writes the remaining samples and ends the goroutine. It does not wait for a slow disk.
func (s *sampler) close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	started := s.started && !s.closing
	s.closing = true
	for r, m := range s.running {
		s.ended = append(s.ended, m)
		delete(s.running, r)
	}
	s.mu.Unlock()
	s.cancel()
	if !started {
		return
	}
	s.notify()
	select {
	case <-s.done:
	case <-time.After(closeWait):
	}
}

// loop measures when an attempt is due, and writes what is left of attempts that have ended.
func (s *sampler) loop() {
	defer close(s.done)
	timer := time.NewTimer(0)
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		}
		due, closing := s.take()
		if closing {
			return
		}
		if len(due) > 0 {
			s.measure(due)
		}
		timer.Reset(time.Until(s.next()))
	}
}

// next returns when the next attempt is due.
func (s *sampler) next() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := time.Now().Add(time.Hour)
	for _, m := range s.running {
		if m.due.Before(next) {
			next = m.due
		}
	}
	return next
}

// take writes the last samples of ended attempts and returns the attempts to measure: all of them
// if one is due, since most of the work is done once for all.
func (s *sampler) take() (due []*measured, closing bool) {
	s.mu.Lock()
	ended := s.ended
	s.ended, closing = nil, s.closing
	now, isDue := time.Now(), false
	for _, m := range s.running {
		due = append(due, m)
		isDue = isDue || !m.due.After(now.Add(drift))
	}
	if !isDue {
		due = nil
	}
	s.mu.Unlock()
	for _, m := range ended {
		s.write(m, now, true)
	}
	return due, closing
}

// measure takes one reading of each attempt.
func (s *sampler) measure(due []*measured) {
	ctx, cancel := context.WithTimeout(s.ctx, measureTimeout)
	defer cancel()
	running := make([]Running, len(due))
	for i, m := range due {
		running[i] = m.Running
		s.resume(m)
	}
	readings := s.meter.Measure(ctx, running)
	s.gpus.add(due, readings)
	now := time.Now()
	s.mu.Lock()
	for i, m := range due {
		if i < len(readings) && s.running[m.Replica] == m { // otherwise it has ended meanwhile
			m.track.Add(&readings[i], now)
		}
		m.due = now.Add(sample.MeasureEvery(m.track.Age(now)))
	}
	s.mu.Unlock()
	wrote := false
	for _, m := range due {
		wrote = s.write(m, now, false) || wrote
	}
	s.explain(readings, wrote)
}

// resume continues the peak of an attempt that a former agent has measured.
func (s *sampler) resume(m *measured) {
	if !m.resumed {
		return
	}
	m.resumed = false
	all := sample.ReadReplica(s.appDir, m.Replica, m.Attempt)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, old := range all {
		m.track.NotePeak(&sample.Reading{Memory: old.MemoryPeak, Source: old.Source})
	}
}

// write appends the next sample of an attempt, if it is due. It reports whether it did.
func (s *sampler) write(m *measured, now time.Time, last bool) bool {
	f := s.files[m.Replica]
	if f == nil {
		f = sample.NewFile(s.appDir, m.Replica)
		s.files[m.Replica] = f
	}
	s.mu.Lock()
	next, ok := m.track.Take(now, f.Size(), last)
	s.mu.Unlock()
	if !ok && (!last || m.pending == nil) {
		return false
	}
	if !ok {
		next, m.pending = m.pending[len(m.pending)-1], m.pending[:len(m.pending)-1]
	}
	m.pending = append(m.pending, next)
	if !last && len(m.pending) < batch && next.Seconds < batch && m.track.Age(now) > batchAge {
		return true
	}
	err := f.Append(m.pending...)
	m.pending = nil
	if err != nil && !s.failed {
		s.log.Print(err) // once: the disk may be full
	}
	s.failed = err != nil
	return err == nil
}

// explain stores why nothing is known about any attempt, as long as that is so.
func (s *sampler) explain(readings []sample.Reading, wrote bool) {
	reason := ""
	for i := range readings {
		if readings[i].Err == nil {
			reason = ""
			break
		}
		reason = readings[i].Err.Error()
	}
	if reason == s.reason || reason == "" && !wrote {
		return
	}
	if err := sample.SetReason(s.appDir, reason); err == nil {
		s.reason = reason
	}
}
