package ui

import (
	"math"
	"strconv"
	"strings"

	"torchx/runtime/metrics"
)

// NumberText returns a value with about five digits for a table.
func NumberText(v float64) string {
	const digits = 5
	if math.IsNaN(v) || math.IsInf(v, 0) {
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
