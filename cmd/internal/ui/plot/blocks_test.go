package plot_test

import (
	"math"
	"testing"

	"torchx/cmd/internal/ui/plot"
)

func TestBlocks(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values []float64
		width  int
		lo, hi float64
		ascii  bool
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 20, 0, 7, false, "▁▂▃▄▅▆▇█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 20, 0, 7, true, "_.-=+*#@"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 4, 0, 7, false, "▂▄▆█"},
		{[]float64{1, nan, 3, inf}, 4, 1, 3, false, "▁ █ "},
		{[]float64{nan, 7}, 1, 0, 7, false, "█"},
		{[]float64{5, 5}, 9, 5, 5, false, "▁▁"},
		{[]float64{-2, 12}, 9, 0, 7, false, "▁█"},
		{[]float64{-math.MaxFloat64, 0, math.MaxFloat64}, 3, -math.MaxFloat64, math.MaxFloat64, false, "▁▅█"},
		{nil, 9, 0, 1, false, ""},
		{[]float64{1}, 0, 0, 1, false, ""},
	} {
		if got := plot.Blocks(c.values, c.width, c.lo, c.hi, c.ascii); got != c.want {
			t.Errorf("Blocks(%v, %d): got %q, want %q", c.values, c.width, got, c.want)
		}
	}
}

func TestNeedsASCII(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm"}, false},
		{map[string]string{"LANG": "de_DE.utf8"}, false},
		{map[string]string{"LANG": "C"}, true},
		{map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, true},
		{map[string]string{"LC_CTYPE": "C.UTF-8", "LANG": "C"}, false},
		{map[string]string{"LANG": "en_US.ISO-8859-1"}, true},
		{map[string]string{"LANG": "en_US.UTF-8", "TERM": "linux"}, true},
	} {
		if got := plot.NeedsASCII(func(name string) string { return c.env[name] }); got != c.want {
			t.Errorf("%v: got %v, want %v", c.env, got, c.want)
		}
	}
}
