package metrics

import (
	"math"
	"strconv"
	"strings"

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

// short returns a value with about five digits for a table.
func short(v float64) string {
	const digits = 5
	if finite(v) == nil {
		return metrics.Number(v).String()
	}
	abs := math.Abs(v)
	if v == math.Trunc(v) && abs < 1e9 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	text := strconv.FormatFloat(v, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	power, _ := strconv.Atoi(exponent) // FormatFloat wrote it
	if power < -4 || power >= 9 {
		return trimZeros(mantissa) + "e" + strconv.Itoa(power)
	}
	return trimZeros(strconv.FormatFloat(v, 'f', max(digits-1-power, 0), 64))
}

func trimZeros(text string) string {
	if !strings.Contains(text, ".") {
		return text
	}
	return strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
}
