package podarchive

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"torchx/backends/logcopy"
)

var logEpoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.FixedZone("", 2*3600))

// lines returns records of all kinds, up to step apart: long lines in parts, carriage
// returns, invalid UTF-8, empty and equal lines, lines that begin with a time, and pairs out
// of order.
func lines(r *rand.Rand, from time.Time, n int, step time.Duration) []record {
	var all []record
	t := from
	for i := range n {
		t = t.Add(time.Duration(r.Int64N(int64(step))))
		switch r.IntN(12) {
		case 0:
			all = append(all, record{t, "\n"}, record{t, "\n"})
		case 1:
			all = append(all, record{t, "same\n"}, record{t, "same\n"})
		case 2:
			all = append(all, record{t, fmt.Sprintf("%d%%\r%d%%\xff\xfe\r\n", i, i+1)})
		case 3:
			long := strings.Repeat(fmt.Sprintf("<%d>", i), 16384/5)
			for range r.IntN(6) {
				all = append(all, record{t, long})
				t = t.Add(time.Duration(r.Int64N(int64(step))))
			}
			all = append(all, record{t, "end\n"})
		case 4:
			all = append(all, record{t, t.Format(time.RFC3339Nano) + " info\n"})
		case 5:
			all = append(all, record{t.Add(time.Millisecond), fmt.Sprintf("early %d\n", i)}, record{t, fmt.Sprintf("late %d\n", i)})
		default:
			all = append(all, record{t, fmt.Sprintf("line %d\n", i)})
		}
	}
	return all
}

func text(records []record) string {
	var b strings.Builder
	for _, r := range records {
		b.WriteString(r.text)
	}
	return b.String()
}

// check compares two texts and prints only their first difference.
func check(t *testing.T, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-60)
	t.Fatalf("got %d bytes, want %d; from byte %d on:\n%.200q\nwant\n%.200q", len(got), len(want), from, got[from:], want[from:])
}

func copyLog(ctx context.Context, t *testing.T, f *fake, k *sink, follow bool) bool {
	t.Helper()
	done, err := copyTo(ctx, f, k, quick(follow))
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return done
}

// TestEveryLineOnce: each line is copied once, wherever streams are cut and readers killed.
func TestEveryLineOnce(t *testing.T) {
	t.Parallel()
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			f := newFake(seed)
			f.cut = 1 + int(seed%5)
			r := rand.New(rand.NewPCG(seed, 2))
			step := []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Second, 3 * time.Second}[seed%4]
			all := lines(r, logEpoch, 120, step)
			if seed%3 == 0 {
				all = append(all, record{all[len(all)-1].time.Add(step), "no newline at the end"})
			}
			k := &sink{}
			go func() {
				for at := 0; at < len(all); {
					n := min(len(all)-at, 1+r.IntN(20))
					f.write(all[at : at+n]...)
					at += n
					time.Sleep(time.Duration(r.IntN(500)) * time.Microsecond)
				}
				f.update(func() { f.state = logcopy.Ended })
			}()
			kills := rand.New(rand.NewPCG(seed, 3))
			for done := false; !done; {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(kills.IntN(20))*time.Millisecond)
				if kills.IntN(4) == 0 {
					ctx, cancel = context.WithCancel(t.Context())
				}
				done = copyLog(ctx, t, f, k, true)
				cancel()
				if !done && kills.IntN(2) == 0 { // the kill truncates the data after the cursor
					k.data.Truncate(int(k.saved.Offset + kills.Int64N(k.Size()-k.saved.Offset+1)))
				}
			}
			check(t, k.data.String(), text(all))
			if len(k.gaps) > 0 {
				t.Errorf("got gaps %q, want none", k.gaps)
			}
		})
	}
}

func TestTimesOfLines(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	f.write(record{logEpoch, "a\n"}, record{logEpoch.Add(time.Nanosecond), "b\n"})
	f.update(func() { f.state = logcopy.Ended })
	k := &sink{}
	copyLog(t.Context(), t, f, k, true)
	if !k.at[0].Equal(logEpoch) || !k.at[2].Equal(logEpoch.Add(1)) {
		t.Errorf("got times %v, want those of the lines", k.at)
	}
	if !k.saved.Done {
		t.Errorf("got cursor %+v, want it done", k.saved)
	}
}

// TestOnce: without Follow, each copy appends the new complete lines.
func TestOnce(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	k := &sink{}
	f.write(record{logEpoch, "a\n"}, record{logEpoch, "b"})
	if copyLog(t.Context(), t, f, k, false) {
		t.Error("got a complete log of a running container, want an incomplete one")
	}
	check(t, k.data.String(), "a\n")
	f.write(record{logEpoch.Add(1), "c\n"})
	copyLog(t.Context(), t, f, k, false)
	check(t, k.data.String(), "a\nbc\n")
	f.write(record{logEpoch.Add(2), "d"})
	f.update(func() { f.state = logcopy.Ended })
	if !copyLog(t.Context(), t, f, k, false) {
		t.Error("got an incomplete log of an ended container, want a complete one")
	}
	check(t, k.data.String(), "a\nbc\nd")
}

func TestRotation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first int // record of the new file
		want  string
		gaps  int
	}{
		"the last line is kept": {1, "1\n2\n3\n4\n", 0},
		"it is lost":            {2, "1\n2\n3\n4\n", 1},
		"with lines after it":   {3, "1\n2\n4\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(1)
			all := []record{{logEpoch, "1\n"}, {logEpoch.Add(10), "2\n"}, {logEpoch.Add(20), "3\n"}, {logEpoch.Add(30), "4\n"}}
			f.write(all[:2]...)
			k := &sink{}
			copyLog(t.Context(), t, f, k, false)
			f.write(all[2:]...)
			f.update(func() { f.first = c.first })
			copyLog(t.Context(), t, f, k, false)
			check(t, k.data.String(), c.want)
			copyLog(t.Context(), t, f, k, false)
			f.update(func() { f.state = logcopy.Ended })
			copyLog(t.Context(), t, f, k, true)
			check(t, k.data.String(), c.want)
			if len(k.gaps) != c.gaps {
				t.Errorf("got gaps %q, want %d", k.gaps, c.gaps)
			}
		})
	}
}

// TestGapOnce: a gap is reported once, also without new lines since.
func TestGapOnce(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	f.write(record{logEpoch, "1\n"})
	k := &sink{}
	copyLog(t.Context(), t, f, k, false)
	f.update(func() { f.first = 1 })
	for range 3 {
		copyLog(t.Context(), t, f, k, false)
	}
	f.write(record{logEpoch.Add(time.Millisecond), "2\n"})
	copyLog(t.Context(), t, f, k, false)
	copyLog(t.Context(), t, f, k, false)
	check(t, k.data.String(), "1\n2\n")
	if len(k.gaps) != 1 || k.gaps[0] != logcopy.GapRotated {
		t.Errorf("got gaps %q, want one", k.gaps)
	}
}

// TestRotationFollowed: a followed log continues immediately after a rotation.
func TestRotationFollowed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		f.write(record{logEpoch, "1\n"})
		k := &sink{}
		copyLog(t.Context(), t, f, k, false)
		f.write(record{logEpoch.Add(time.Millisecond), "2\n"})
		f.update(func() { f.first = 1 })
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		copyLog(ctx, t, f, k, true)
		check(t, k.data.String(), "1\n2\n")
		if len(k.gaps) != 1 {
			t.Errorf("got gaps %q, want one", k.gaps)
		}
	})
}

func TestPodDeleted(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	f.write(record{logEpoch, "1\n"})
	k := &sink{}
	copyLog(t.Context(), t, f, k, false)
	f.update(func() { f.state = logcopy.Gone })
	if !copyLog(t.Context(), t, f, k, true) || len(k.gaps) != 1 || k.gaps[0] != GapDeleted {
		t.Errorf("got gaps %q, want one", k.gaps)
	}

	f, k = newFake(1), &sink{} // followed to its end
	f.write(record{logEpoch, "1\n"}, record{logEpoch, "2"})
	go func() {
		f.await(func() bool { return f.opened > 0 })
		f.update(func() { f.state = logcopy.Gone })
	}()
	if !copyLog(t.Context(), t, f, k, true) || len(k.gaps) != 0 {
		t.Errorf("got gaps %q, want none", k.gaps)
	}
	check(t, k.data.String(), "1\n2")
}

// TestLogRemovedFirst: a node removes the log of a stopped pod before the server knows that
// the pod has ended. Responses are empty for a while, or contain an error.
func TestLogRemovedFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		last logcopy.State
		gaps int
	}{
		{"", logcopy.Gone, 0},
		{"unable to retrieve container logs for containerd://4711", logcopy.Gone, 0},
		{"unable to retrieve container logs for containerd://4711", logcopy.Ended, 0},
		{"failed to watch file: too many open files", logcopy.Gone, 1},
	} {
		t.Run(c.body, func(t *testing.T) {
			t.Parallel()
			f, k := newFake(1), &sink{}
			f.write(record{logEpoch, "1\n"}, record{logEpoch, "2"})
			f.eof = true
			go func() {
				f.await(func() bool { return f.opened > 1 }) // the log was read once
				f.update(func() { f.first, f.body = len(f.records), c.body })
				f.await(func() bool { return f.opened > 5 })
				f.update(func() { f.state = c.last })
			}()
			patient := quick(true)
			patient.Timing.SearchTimeout, patient.Timing.IdleTimeout = time.Minute, time.Minute
			done, err := copyTo(t.Context(), f, k, patient)
			if !done || err != nil || len(k.gaps) != c.gaps {
				t.Errorf("got %v, %v, gaps %q, want done and %d gaps", done, err, k.gaps, c.gaps)
			}
			if c.gaps == 0 {
				check(t, k.data.String(), "1\n2")
			}
		})
	}
}

// TestErrorInsteadOfLog: errors of the kubelet are not lines of the log.
func TestErrorInsteadOfLog(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	f.body = "unable to retrieve container logs for containerd://4711"
	k := &sink{}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		f.await(func() bool { return f.opened > 2 })
		cancel()
	}()
	if copyLog(ctx, t, f, k, true); k.Size() > 0 {
		t.Errorf("got %q, want nothing", k.data.String())
	}
	f.update(func() { f.state = logcopy.Ended })
	if !copyLog(t.Context(), t, f, k, true) || k.Size() > 0 || len(k.gaps) != 1 || !strings.Contains(k.gaps[0], f.body) {
		t.Errorf("got gaps %q, want one", k.gaps)
	}
}

func TestWaitsForStart(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	f.state = logcopy.Waiting
	k := &sink{}
	if copyLog(t.Context(), t, f, k, false) || f.opened > 0 {
		t.Error("got a log of a container that has not started, want none")
	}
	go func() {
		f.await(func() bool { return f.polled > 1 })
		f.write(record{logEpoch, "1\n"})
		f.update(func() { f.state = logcopy.Ended })
	}()
	copyLog(t.Context(), t, f, k, true)
	check(t, k.data.String(), "1\n")
}

// TestSilentStream: a stream that hangs is replaced by a new one.
func TestSilentStream(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(1)
		f.write(record{logEpoch, "1\n"})
		k := &sink{}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		copyLog(ctx, t, f, k, true)
		if f.opened < 3 || f.opened > 12 {
			t.Errorf("got %d streams, want 3 to 12", f.opened)
		}
		check(t, k.data.String(), "1\n")
	})
}

func TestLastingProblem(t *testing.T) {
	t.Parallel()
	f := newFake(1)
	f.body = "no"
	k := &sink{}
	m := quick(false)
	m.GiveUpAfter = 10 * time.Millisecond
	done, err := copyTo(t.Context(), f, k, m)
	var reply *logcopy.ReplyError
	if done || !errors.As(err, &reply) {
		t.Errorf("got %v, %v, want false and the error of the node", done, err)
	}
}

// TestOpenAfterEnd: Open gets Ended if the last stream ended by itself, which usually means
// that the container has ended, but not if it was cut.
func TestOpenAfterEnd(t *testing.T) {
	t.Parallel()
	for _, eof := range []bool{true, false} {
		f, k := newFake(1), &sink{}
		f.eof = eof
		f.write(record{logEpoch, "line\n"})
		ctx, cancel := context.WithCancel(t.Context())
		copied := make(chan struct{})
		go func() {
			defer close(copied)
			copyLog(ctx, t, f, k, true)
		}()
		f.await(func() bool { return f.opened > 2 }) // silent streams are opened again, too
		cancel()
		<-copied
		if (f.ended > 0) != eof {
			t.Errorf("streams that end by themselves %v: got %d of %d calls of Open with Ended", eof, f.ended, f.opened)
		}
	}
}
