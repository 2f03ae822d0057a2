package metrics

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/pattern"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)

func openStore(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // closed twice by most tests
	return s
}

func mustFlush(t *testing.T, s *Store, positions map[string][]byte) {
	t.Helper()
	if err := s.Flush(positions); err != nil {
		t.Fatal(err)
	}
}

// pointsIn returns all points of a series.
func pointsIn(t *testing.T, dir string, k Key) (all []Point) {
	t.Helper()
	points, err := Points(dir, k)
	if err != nil {
		t.Fatal(err)
	}
	for p, err := range points {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func key(name string) Key { return Key{"trainer", 1, name} }

func at(step int64, value float64) Point {
	return Point{Time: start.Add(time.Duration(step) * time.Second), Step: step, HasStep: true, Value: value}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	want := []Point{at(1, 0.5), at(2, math.Inf(1)), at(3, -0.1), {Time: start.Add(4 * time.Second), Value: 1e300}}
	for _, p := range want {
		s.Add(key("loss"), p, SourceFile)
	}
	s.Broken("trainer", 1, SourceFile, 2, "not JSON")
	mustFlush(t, s, map[string][]byte{"file": []byte("17")})
	for range 2 { // from the frames, then from the index
		got, err := Summaries(dir)
		sum := Summary{
			Key: key("loss"), Count: 4, NonFinite: 1, Broken: 2, Segments: 1, First: 0.5, Last: 1e300, Min: -0.1, Max: 1e300,
			FirstTime: want[0].Time, LastTime: want[3].Time, Source: SourceFile,
		}
		if err != nil || !reflect.DeepEqual(got, []Summary{sum}) {
			t.Errorf("got %+v, %v, want %+v", got, err, sum)
		}
		if got := pointsIn(t, dir, key("loss")); !reflect.DeepEqual(got, want) {
			t.Errorf("got points %+v, want %+v", got, want)
		}
		_ = s.Close()
	}
	if got := openStore(t, dir).Position("file"); string(got) != "17" {
		t.Errorf("got position %q, want 17", got)
	}
}

func TestSegments(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	back := at(4, 1)
	back.Time = start
	retried := at(5, 1)
	retried.Segment = 1
	for _, p := range []Point{at(1, 1), at(3, 1), at(2, 1), at(2, 1), back, retried, {Time: retried.Time, Segment: 1}} {
		s.Add(key("loss"), p, SourceFile)
		mustFlush(t, s, nil)
	}
	var got []int
	for _, p := range pointsIn(t, dir, key("loss")) {
		got = append(got, p.Segment)
	}
	if want := []int{0, 0, 1, 1, 2, 3, 3}; !reflect.DeepEqual(got, want) {
		t.Errorf("got segments %v, want %v", got, want)
	}
}

// The source with precedence keeps a name, whichever reports first.
func TestSameNameOfTwoSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	s.Add(key("loss"), at(1, 1), SourceLog)
	s.Add(key("loss"), at(1, 2), SourceFile)
	mustFlush(t, s, nil)
	for name, want := range map[string]float64{"loss": 2, "loss@log": 1} {
		if got := pointsIn(t, dir, key(name)); len(got) != 1 || got[0].Value != want {
			t.Errorf("%s: got %+v, want %g", name, got, want)
		}
	}
}

func TestOneWriter(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	openStore(t, dir)
	if _, err := Open(dir); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("got %v, want %v", err, filelock.ErrHeld)
	}
}

// Whatever a kill or a power cut leaves, the next writer continues where the last whole frame
// ends: a source that is read again from the recorded position gives each point once.
func TestCutAnywhere(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	dir := t.TempDir()
	write := func(s *Store, until int) {
		from := 0
		for _, b := range s.Position("n") {
			from = from*10 + int(b-'0')
		}
		for ; from < until; from++ {
			s.Add(key("a"), at(int64(from), float64(from)), SourceFile)
			s.Add(key("b"), at(int64(from), -float64(from)/3), SourceFile)
			if r.IntN(3) == 0 || from == until-1 {
				mustFlush(t, s, map[string][]byte{"n": []byte(time.Duration(from + 1).String()[:len(time.Duration(from+1).String())-2])})
			}
		}
	}
	for round := range 60 {
		s := openStore(t, dir)
		write(s, 5*(round+1))
		var err error
		if r.IntN(2) == 0 {
			err = s.Close()
		} else {
			err = s.closeFiles()
		}
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(dir, Folder, pointsFile)
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		switch r.IntN(4) {
		case 0:
			err = os.Truncate(name, r.Int64N(info.Size()+1))
		case 1:
			f, openErr := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
			if openErr != nil {
				t.Fatal(openErr)
			}
			_, err = f.Write(make([]byte, r.IntN(30)))
			err = errors.Join(err, f.Close())
		case 2:
			err = os.WriteFile(filepath.Join(dir, Folder, indexFile), []byte("x"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t, dir)
	write(s, 400)
	for name, sign := range map[string]float64{"a": 1, "b": -1. / 3} {
		all := pointsIn(t, dir, key(name))
		if len(all) != 400 {
			t.Fatalf("%s: got %d points, want 400", name, len(all))
		}
		for i, p := range all {
			if p.Step != int64(i) || math.Abs(p.Value-sign*float64(i)) > 1e-9 || p.Segment != 0 {
				t.Fatalf("%s: point %d: got %+v", name, i, p)
			}
		}
	}
}

// Curves have each point in one bucket, within the limit.
func TestCurves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	const n = 100_000
	for i := range n {
		s.Add(key("loss"), at(int64(i%40_000), math.Sin(float64(i))), SourceFile)
		if i%1000 == 0 {
			mustFlush(t, s, nil)
		}
	}
	mustFlush(t, s, nil)
	curves, err := Curves(dir, key("loss"), key("none"))
	buckets := curves[key("loss")]
	if err != nil || len(curves) != 1 || len(buckets) > maxBuckets || len(buckets) < maxBuckets/4 {
		t.Fatalf("got %d curves, %d buckets, %v, want one of at most %d", len(curves), len(buckets), err, maxBuckets)
	}
	count, segments := int64(0), map[int]bool{}
	for i, b := range buckets {
		count += b.Count
		segments[b.Segment] = true
		if b.FirstStep > b.LastStep || b.Min > b.Max || !b.HasStep {
			t.Errorf("bucket %d: got %+v, want it in order and within a segment", i, b)
		}
	}
	if count != n || len(segments) != 3 {
		t.Errorf("got %d points in %d segments, want %d in 3", count, len(segments), n)
	}
}

func TestTooManyNames(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	for i := range MaxNames + 5 {
		s.Add(key("n"+string(rune('0'+i%10))+time.Duration(i).String()), at(1, 1), SourceFile)
	}
	for _, name := range []string{"", "a\x00b", "a\nb", "\xff", string(make([]byte, pattern.MaxName+1))} {
		s.Add(key(name), at(1, 1), SourceFile)
	}
	mustFlush(t, s, nil)
	all, err := Summaries(dir)
	issues, err2 := Issues(dir)
	if errors.Join(err, err2) != nil || len(all) != MaxNames || len(issues) != 1 || issues[0].Dropped != 10 {
		t.Errorf("got %d series, issues %+v, %v, want %d and 10 dropped", len(all), issues, errors.Join(err, err2), MaxNames)
	}
}

// Damage before other frames is an error that says where.
func TestDamage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openStore(t, dir)
	for i := range 3 {
		s.Add(key("loss"), at(int64(i), 1), SourceFile)
		mustFlush(t, s, nil)
	}
	name := filepath.Join(dir, Folder, pointsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	data[len(pointsMagic)+frameHeader+5]++ // in the first frame
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := Summaries(dir)
	if !errors.Is(err, errDamaged) || len(all) != 0 {
		t.Errorf("got %+v, %v, want none and %v", all, err, errDamaged)
	}
}
