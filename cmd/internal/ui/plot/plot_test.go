package plot_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
	"torchx/cmd/internal/ui/plot"
)

var update = flag.Bool("update", false, "write the pictures of testdata")

// point returns the sample of one point.
func point(x, y float64, segment int) plot.Sample {
	s := plot.Sample{FirstX: x, LastX: x, First: y, Last: y, Min: y, Max: y, Segment: segment}
	s.NaN, s.PosInf, s.NegInf = math.IsNaN(y), math.IsInf(y, 1), math.IsInf(y, -1)
	if s.NaN || s.PosInf || s.NegInf {
		s.Min, s.Max = math.NaN(), math.NaN()
	}
	return s
}

// curve returns n points of a function, ten steps apart.
func curve(n int, f func(i float64) float64) []plot.Sample {
	var out []plot.Sample
	for i := range n {
		out = append(out, point(float64(i*10), f(float64(i)), 0))
	}
	return out
}

func loss(i float64) float64 { return 2.3*math.Exp(-i/200) + 0.12 }

func one(samples []plot.Sample) []plot.Series {
	return []plot.Series{{Name: "trainer/0", Samples: samples}}
}

// pictures are the cases of testdata.
func pictures() map[string]plot.Plot {
	nan, inf := math.NaN(), math.Inf(1)
	two := []plot.Series{
		{Name: "first", Samples: curve(1000, loss)},
		{Name: "second", Samples: curve(700, func(i float64) float64 { return 2.1*math.Exp(-i/300) + 0.3 })},
	}
	gaps := curve(200, func(i float64) float64 {
		switch {
		case i > 50 && i < 70:
			return nan
		case i == 100:
			return inf
		case i == 120:
			return -inf
		}
		return math.Sin(i / 20)
	})
	retried := curve(60, func(i float64) float64 { return 2 - i/40 })
	for i := 30.0; i < 100; i++ {
		retried = append(retried, point(i*10, 1.9-i/50, 1))
	}
	wide := []plot.Sample{
		{FirstX: 0, LastX: 400, First: 1, Last: 2, Min: 1, Max: 2},
		{FirstX: 401, LastX: 800, First: 2, Last: 3, Min: -4, Max: 9},
		{FirstX: 801, LastX: 1000, First: 3, Last: 3, Min: 3, Max: 3, NaN: true},
	}
	return map[string]plot.Plot{
		"one":          {Title: "loss", Note: "by step", X: plot.Steps, Series: one(curve(1000, loss))},
		"two":          {Title: "loss", Note: "by step", X: plot.Steps, Series: two},
		"two-color":    {Title: "loss", Note: "by step", X: plot.Steps, Series: two, Style: ui.Style{Color: true}},
		"two-ascii":    {Title: "loss", Note: "by step", X: plot.Steps, Series: two, ASCII: true},
		"one-ascii":    {Title: "loss", Note: "by step", X: plot.Steps, Series: one(curve(1000, loss)), ASCII: true},
		"log":          {Title: "loss", Note: "by step, log scale", X: plot.Steps, Y: plot.Log, Series: one(curve(1000, loss))},
		"log-decades":  {Title: "lr", Note: "by step, log scale", X: plot.Steps, Y: plot.Log, Series: one(curve(50, func(i float64) float64 { return math.Pow(10, -i/5) }))},
		"log-negative": {Title: "x", Note: "by step, log scale", X: plot.Steps, Y: plot.Log, Series: one(curve(50, func(i float64) float64 { return i - 25 }))},
		"gaps":         {Title: "wave", Note: "by time", X: plot.Seconds, Series: one(gaps)},
		"retried":      {Title: "loss", Note: "by step", X: plot.Steps, Series: one(retried)},
		"wide":         {Title: "loss", Note: "by step", X: plot.Steps, Series: one(wide)},
		"point":        {Title: "loss", Note: "by step", X: plot.Steps, Series: one([]plot.Sample{point(7, 2, 0)})},
		"empty":        {Title: "loss", Note: "by step", X: plot.Steps},
		"not-a-number": {Title: "loss", Note: "by step", X: plot.Steps, Series: one(curve(9, func(float64) float64 { return nan }))},
		"equal":        {Title: "lr", Note: "by step", X: plot.Steps, Series: one(curve(9, func(float64) float64 { return 0.001 }))},
		"huge":         {Title: "x", Note: "by step", X: plot.Steps, Series: one(curve(5, func(i float64) float64 { return (i - 2) * 0.8e308 }))},
		"small":        {Title: "x", Note: "by step", X: plot.Steps, Series: one(curve(5, func(i float64) float64 { return i * 3e-12 }))},
		"large-steps":  {Title: "x", Note: "by step", X: plot.Steps, Series: one([]plot.Sample{point(0, 1e6, 0), point(4e6, 3.4e6, 0)})},
		"hours":        {Title: "x", Note: "by time", X: plot.Seconds, Series: one([]plot.Sample{point(0, 1, 0), point(30000, 2, 0)})},
		"milliseconds": {Title: "x", Note: "by time", X: plot.Seconds, Series: one([]plot.Sample{point(0, 1, 0), point(0.021, 2, 0)})},
	}
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for name, p := range pictures() {
		p.Width, p.Height = 72, 14
		path := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(path, []byte(p.Text()), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Text(); got != string(want) {
			t.Errorf("%s (go test -update writes it):\n%s\nwant\n%s", name, got, want)
		}
	}
}

// TestSizes checks that pictures keep to their width and height, whatever the data.
func TestSizes(t *testing.T) {
	t.Parallel()
	color := regexp.MustCompile(`\x1b\[\d+m`)
	for name, p := range pictures() {
		for width := 40; width <= 300; width += 13 {
			for height := 8; height <= 60; height += 13 {
				p.Width, p.Height = width, height
				lines := strings.Split(strings.TrimSuffix(p.Text(), "\n"), "\n")
				if len(lines) != height {
					t.Errorf("%s %dx%d: got %d lines", name, width, height, len(lines))
				}
				for _, l := range lines {
					if l = color.ReplaceAllString(l, ""); ui.TextWidth(l) > width || strings.HasSuffix(l, " ") {
						t.Errorf("%s %dx%d: got a line of %d columns: %q", name, width, height, ui.TextWidth(l), l)
					}
				}
			}
		}
	}
}

// TestAnyNumbers checks that no numbers panic or take long.
func TestAnyNumbers(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // numbers of a test
	number := func() float64 {
		special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.MaxFloat64, -math.MaxFloat64, 5e-324, 1e16, 1}
		if random.IntN(2) == 0 {
			return special[random.IntN(len(special))]
		}
		return math.Float64frombits(random.Uint64())
	}
	for range 2000 {
		p := plot.Plot{X: plot.Axis(random.IntN(4)), Y: plot.Axis(random.IntN(4)), Width: 60, Height: 12, ASCII: random.IntN(2) == 0}
		for range random.IntN(9) {
			var s plot.Series
			for range random.IntN(6) {
				s.Samples = append(s.Samples, plot.Sample{
					FirstX: number(), LastX: number(), First: number(), Last: number(), Min: number(), Max: number(),
					NaN: random.IntN(2) == 0, PosInf: random.IntN(2) == 0, NegInf: random.IntN(2) == 0, Segment: random.IntN(3),
				})
			}
			p.Series = append(p.Series, s)
		}
		if text := p.Text(); strings.Count(text, "\n") < 6 {
			t.Errorf("%+v: got\n%s", p, text)
		}
	}
}
