package metrics

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"time"
)

// clockBack is how far the time of a series may go back within a segment: several processes
// may append to one file.
const clockBack = time.Second

// seriesKey identifies a series as stored; by its source too.
type seriesKey struct {
	Key
	source string
}

type issueKey struct {
	role    string
	replica int
	source  string
}

// series is the state of one series.
type series struct {
	seriesKey
	count, nonFinite      int64
	segment, attempt      int // of the last point
	first, last, min, max float64
	lastStep              int64
	hasStep               bool
	firstTime, lastTime   int64 // unix ns
	width                 int64 // points of a bucket
	buckets               []Bucket

	pending section // points that are not in a frame yet; not part of the state
}

// state is everything that is known without reading the points.
type state struct {
	series    []*series // by ID
	byKey     map[seriesKey]int
	names     map[issueKey]int // series by replica and source
	issues    map[issueKey]*Issue
	positions map[string][]byte // of the sources
	offset    int64             // end of the last frame that is part of it
	complete  bool              // all sources were read to their end
}

func newState() *state {
	return &state{
		byKey: map[seriesKey]int{}, names: map[issueKey]int{}, issues: map[issueKey]*Issue{},
		positions: map[string][]byte{},
	}
}

// find returns the series of a key; nil if there are too many.
func (s *state) find(k seriesKey) (*series, int) {
	if id, ok := s.byKey[k]; ok {
		return s.series[id], id
	}
	replica := issueKey{k.Role, k.Replica, k.source}
	if len(s.series) >= MaxSeries || s.names[replica] >= MaxNames {
		return nil, 0
	}
	return s.create(k), len(s.series) - 1
}

func (s *state) create(k seriesKey) *series {
	n := &series{seriesKey: k, min: math.NaN(), max: math.NaN(), width: 1}
	s.byKey[k] = len(s.series)
	s.names[issueKey{k.Role, k.Replica, k.source}]++
	s.series = append(s.series, n)
	return n
}

func (s *state) issue(k issueKey) *Issue {
	if s.issues[k] == nil {
		s.issues[k] = &Issue{Role: k.role, Replica: k.replica, Source: k.source}
	}
	return s.issues[k]
}

// bucketLimit is the number of buckets that each series may have.
func (s *state) bucketLimit() int { return max(16, min(maxBuckets, bucketSpace/max(1, len(s.series)))) }

// startsSegment reports whether a point of an attempt begins a new segment.
func (n *series) startsSegment(p *Point) bool {
	if n.count == 0 {
		return false
	}
	return p.Segment != n.attempt || p.HasStep && n.hasStep && p.Step < n.lastStep ||
		p.Time.UnixNano() <= n.lastTime-int64(clockBack)
}

// add adds a point, whose segment is known.
func (n *series) add(p *Point, limit int) {
	t := p.Time.UnixNano()
	if n.count == 0 {
		n.first, n.firstTime = p.Value, t
	}
	n.count++
	if isFinite(p.Value) {
		n.min, n.max = least(n.min, p.Value), greatest(n.max, p.Value)
	} else {
		n.nonFinite++
	}
	n.last, n.lastTime, n.lastStep, n.hasStep, n.segment = p.Value, t, p.Step, p.HasStep, p.Segment
	b := NewBucket(p)
	if k := len(n.buckets); k > 0 && n.buckets[k-1].Count < n.width &&
		n.buckets[k-1].Segment == p.Segment {
		n.buckets[k-1].Join(&b)
		return
	}
	if len(n.buckets) >= limit {
		n.halve(limit)
	}
	n.buckets = append(n.buckets, b)
}

// halve merges buckets in pairs: of the same segment only, unless segments are too many.
func (n *series) halve(limit int) {
	n.width *= 2
	n.buckets = Halve(n.buckets, false)
	if len(n.buckets) > limit*3/4 {
		n.buckets = Halve(n.buckets, true)
	}
}

// named returns all series with the names that readers see, in the order of roles, replicas
// and names.
func (s *state) named() []namedSeries {
	owners := map[Key]string{}
	for _, n := range s.series {
		if owner, ok := owners[n.Key]; !ok || precedence(n.source) < precedence(owner) {
			owners[n.Key] = n.source
		}
	}
	all := make([]namedSeries, len(s.series))
	for id, n := range s.series {
		all[id] = namedSeries{Key: n.Key, series: n, id: id}
		if owners[n.Key] != n.source {
			_, suffix := split(n.source)
			all[id].Name += "@" + suffix
		}
	}
	slices.SortStableFunc(all, func(a, b namedSeries) int { return a.compare(b.Key) })
	return all
}

// namedSeries is a series with the key that readers see.
type namedSeries struct {
	Key
	series *series
	id     int
}

func (k Key) compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Role, o.Role), cmp.Compare(k.Replica, o.Replica),
		cmp.Compare(k.Name, o.Name))
}

func (s *state) summaries() []Summary {
	all := []Summary{}
	for _, n := range s.named() {
		if n.series.count == 0 {
			continue
		}
		sum := n.series.summary()
		sum.Key = n.Key
		if i := s.issues[issueKey{n.Role, n.Replica, n.series.source}]; i != nil {
			sum.Broken = i.Broken
		}
		all = append(all, sum)
	}
	return all
}

func (n *series) summary() Summary {
	kind, _ := split(n.source)
	return Summary{
		Key: n.Key, Count: n.count, NonFinite: n.nonFinite, Segments: n.segment + 1,
		First: n.first, Last: n.last, Min: n.min, Max: n.max, LastStep: n.lastStep, HasStep: n.hasStep,
		FirstTime: time.Unix(0, n.firstTime).UTC(), LastTime: time.Unix(0, n.lastTime).UTC(), Source: kind,
	}
}

func (s *state) allIssues() []Issue {
	all := []Issue{}
	for _, i := range s.issues {
		all = append(all, *i)
	}
	slices.SortFunc(all, func(a, b Issue) int {
		return cmp.Or(Key{Role: a.Role, Replica: a.Replica, Name: a.Source}.compare(Key{Role: b.Role, Replica: b.Replica, Name: b.Source}))
	})
	return all
}

// lookup returns the series that readers see as k, nil if there is none.
func (s *state) lookup(k Key) (*series, int) {
	for _, n := range s.named() {
		if n.Key == k {
			return n.series, n.id
		}
	}
	return nil, -1
}

func none(err error) iter.Seq2[Point, error] {
	return func(yield func(Point, error) bool) {
		if err != nil {
			yield(Point{}, err)
		}
	}
}
