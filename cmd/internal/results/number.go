package results

import (
	"math"
	"strconv"

	"torchx/cmd/internal/program"
	"torchx/runtime/metrics"
)

// errNoMetrics ends the command after its message.
const errNoMetrics = program.QuietError(program.ExitError)

// finite returns a value in JSON that is null if there is none.
func finite(v float64) *metrics.Number {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	n := metrics.Number(v)
	return &n
}

// exact returns a value with all its digits.
func exact(b []byte, v float64) []byte {
	if finite(v) == nil {
		return append(b, metrics.Number(v).String()...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
