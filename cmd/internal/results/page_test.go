package results

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
)

// newView returns a view of an app with replicas of a role, and what it prints.
func newView(t *testing.T, replicas int, names ...string) (*view, *bytes.Buffer) {
	t.Helper()
	var out bytes.Buffer
	f := program.NewFactory(ui.Streams{Out: &out, Err: &out}, program.Environment{}, program.Definition{}, nil)
	v := &view{Factory: f, options: &options{}}
	addApp(t, v, "train-a1", replicas, names...)
	return v, &out
}

// addApp adds an app whose metrics have 100 points each.
func addApp(t *testing.T, v *view, id string, replicas int, names ...string) *app {
	t.Helper()
	a := &app{Ref: runner.Ref{Backend: "local", ID: id}, dir: t.TempDir()}
	store, err := metrics.Open(a.dir)
	must(t, err)
	begin := time.Unix(1700000000, 0)
	for r := range replicas {
		for _, name := range names {
			for i := range 100 {
				store.Add(metrics.Key{Role: "trainer", Replica: r, Name: name}, metrics.Point{
					Time: begin.Add(time.Duration(i) * time.Second), Step: int64(i * 10), HasStep: true, Value: math.Exp(-float64(i)/20) + float64(r)/10,
				}, metrics.SourceFile)
			}
		}
	}
	must(t, store.Flush(nil))
	must(t, store.Close())
	must(t, v.load(a))
	v.apps = append(v.apps, a)
	return a
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func page(t *testing.T, v *view, width, height int) []string {
	t.Helper()
	lines, err := v.page(width, height, true, true)
	must(t, err)
	return lines
}

func TestReplicasShareARow(t *testing.T) {
	t.Parallel()
	v, _ := newView(t, 6, "loss")
	rows := v.rows()
	if len(rows) != 1 || rows[0].replicas() != "trainer/0-5" || rows[0].last() != "0.0070834..0.50708" {
		t.Errorf("got %d rows, %s, %s, want one of trainer/0-5 with a range", len(rows), rows[0].replicas(), rows[0].last())
	}
	if total := rows[0].total(); total.Count != 600 || total.Max != 1.5 || total.Min > 0.0071 {
		t.Errorf("got %+v, want 600 values up to 1.5", total)
	}
	v.apps[0].ids = []int{0, 1, 2, 3, 4, 5}
	if rows := v.rows(); len(rows) != 6 {
		t.Errorf("named replicas: got %d rows, want 6", len(rows))
	}
	v, _ = newView(t, maxReplicas, "loss")
	if rows := v.rows(); len(rows) != maxReplicas {
		t.Errorf("few replicas: got %d rows, want %d", len(rows), maxReplicas)
	}
}

// TestPageFits checks pages of all sizes, with names and replicas that need more room.
func TestPageFits(t *testing.T) {
	t.Parallel()
	v, _ := newView(t, 3, "loss", "validation/accuracy-of-the-model-with-a-long-name")
	addApp(t, v, "a-rather-long-name-of-an-app-pmh49wllj3gz9", 9, "loss")
	for width := minWidth; width <= maxWidth; width += 7 {
		for _, height := range []int{5, 24, 60} {
			lines := page(t, v, width, height)
			for _, l := range lines {
				if ui.TextWidth(l) > width {
					t.Errorf("%d columns: got %d: %q", width, ui.TextWidth(l), l)
				}
			}
			if height >= 24 && len(lines) > height {
				t.Errorf("%dx%d: got %d lines", width, height, len(lines))
			}
		}
	}
}

func TestPlots(t *testing.T) {
	t.Parallel()
	v, _ := newView(t, 1, "loss", "lr", "accuracy")
	if got := strings.Join(v.plotted(8), " "); got != "accuracy" {
		t.Errorf("small screen: got plots of %s, want one", got)
	}
	if got := strings.Join(v.plotted(100), " "); got != "accuracy loss lr" {
		t.Errorf("large screen: got plots of %s, want all", got)
	}
	v.names = []string{"lr", "loss"}
	if got := strings.Join(v.plotted(8), " "); got != "lr loss" {
		t.Errorf("named: got plots of %s, want all names", got)
	}
	v, _ = newView(t, 12, "loss")
	p, err := v.plotOf("loss", v.readCurves())
	must(t, err)
	if len(p.Series) != maxLines || p.Note != "by step, 8 of 12 series" || p.Series[1].Name != "trainer/1" {
		t.Errorf("got %d series, note %q, name %s, want 8 of 12", len(p.Series), p.Note, p.Series[1].Name)
	}
	v.x = xTime
	p, err = v.plotOf("loss", v.readCurves())
	must(t, err)
	if s := p.Series[0].Samples; s[0].FirstX != 0 || s[len(s)-1].LastX != 99 {
		t.Errorf("by time: got %+v, want 0 to 99 seconds", s[len(s)-1])
	}
}

func TestNamesOfLines(t *testing.T) {
	t.Parallel()
	v, _ := newView(t, 1, "loss")
	addApp(t, v, "b2", 2, "loss")
	lines, all := v.lines("loss", v.readCurves())
	got := ""
	for i := range lines {
		got += v.lineName(lines, i) + ", "
	}
	if want := "train-a1, b2 trainer/0, b2 trainer/1, "; got != want || all != 3 {
		t.Errorf("got %s (%d), want %s", got, all, want)
	}
}

// TestNonFinite checks what a bucket with NaN or infinite values becomes.
func TestNonFinite(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		bucket          metrics.Bucket
		isNaN, pos, neg bool
	}{
		{metrics.Bucket{Count: 1, NonFinite: 1, First: inf, Last: inf, Min: nan, Max: nan}, false, true, false},
		{metrics.Bucket{Count: 1, NonFinite: 1, First: -inf, Last: -inf, Min: nan, Max: nan}, false, false, true},
		{metrics.Bucket{Count: 3, NonFinite: 1, First: 1, Last: 2, Min: 1, Max: 2}, true, false, false},
		{metrics.Bucket{Count: 3, First: 1, Last: 2, Min: 1, Max: 2}, false, false, false},
	} {
		l := line{app: &app{}, buckets: []metrics.Bucket{c.bucket}}
		if s := l.samples(true)[0]; s.NaN != c.isNaN || s.PosInf != c.pos || s.NegInf != c.neg {
			t.Errorf("%+v: got %+v", c.bucket, s)
		}
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		buckets []metrics.Bucket
		columns int
		want    string
	}{
		{nil, 4, "[]"},
		{[]metrics.Bucket{{Count: 1, Max: 1}, {Count: 1, Max: 2}}, 4, "[1 2]"},
		{[]metrics.Bucket{{Count: 4, Max: 1}, {Count: 4, Max: 2}}, 4, "[1 1 2 2]"},
		{[]metrics.Bucket{{Count: 1, Max: 3}, {Count: 1, Max: 2}, {Count: 2, Max: nan}}, 2, "[3 NaN]"},
	} {
		if got := fmt.Sprint(spread(c.buckets, c.columns)); got != c.want {
			t.Errorf("%v in %d columns: got %s, want %s", c.buckets, c.columns, got, c.want)
		}
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0: "0", 1: "1", -2.5: "-2.5", 0.1234567: "0.12346", 12345.678: "12346", 100000000: "100000000", 1e10: "1e10", 0.00012345678: "0.00012346",
		1.5e-7: "1.5e-7", 1e-300: "1e-300", -1.23456e12: "-1.2346e12", 99999.99: "100000", math.Inf(1): "Infinity", math.Inf(-1): "-Infinity",
	} {
		if got := ui.NumberText(v); got != want {
			t.Errorf("%v: got %s, want %s", v, got, want)
		}
	}
}

func TestIssues(t *testing.T) {
	t.Parallel()
	v, out := newView(t, 1, "loss")
	store, err := metrics.Open(v.apps[0].dir)
	must(t, err)
	store.Broken("trainer", 0, metrics.SourceFile, 3, "not JSON")
	must(t, store.Flush(nil))
	must(t, store.Close())
	v.explainIssues()
	if want := "torchx: warning: trainer/0, source file: 3 lines could not be read, the last one because of not JSON\n"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
}
