package plot

import "math"

// Levels of a line of blocks, lowest first.
var (
	blocks      = []rune("▁▂▃▄▅▆▇█")
	asciiBlocks = []rune("_.-=+*#@")
)

// Blocks returns values as a line of blocks (▁▂▃▅▇) of at most width columns. Each column shows
// the largest of its values, between lo and hi; it is blank without a finite value.
func Blocks(values []float64, width int, lo, hi float64, ascii bool) string {
	columns := min(width, len(values))
	line := make([]rune, 0, max(columns, 0))
	for c := range columns {
		from, to := c*len(values)/columns, (c+1)*len(values)/columns
		line = append(line, block(values[from:to], lo, hi, ascii))
	}
	return string(line)
}

func block(values []float64, lo, hi float64, ascii bool) rune {
	levels := blocks
	if ascii {
		levels = asciiBlocks
	}
	top := math.NaN()
	for _, v := range values {
		if isFinite(v) && !(v <= top) {
			top = v
		}
	}
	if math.IsNaN(top) {
		return ' '
	}
	if !(hi > lo) {
		return levels[0]
	}
	last := float64(len(levels) - 1)
	return levels[int(math.Round(last*min(max(share(top, lo, hi), 0), 1)))]
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// share returns where v lies between lo (0) and hi (1), also if hi-lo is not a finite number.
func share(v, lo, hi float64) float64 {
	if math.IsInf(hi-lo, 0) {
		v, lo, hi = v/2, lo/2, hi/2
	}
	return (v - lo) / (hi - lo)
}
