package metrics

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"torchx/cmd/internal/program"
)

// errNoMetrics ends the command after its message.
const errNoMetrics = program.QuietError(program.ExitError)

// number is a value in JSON: NaN and infinite ones are strings, as in the JSON form of protocol
// buffers.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if text := notFinite(float64(n)); text != "" {
		return json.Marshal(text)
	}
	return json.Marshal(float64(n))
}

// notFinite returns the name of a value without digits, "" for a finite one.
func notFinite(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return ""
}

// finite returns a value in JSON that is null if there is none.
func finite(v float64) *number {
	if notFinite(v) != "" {
		return nil
	}
	n := number(v)
	return &n
}

// exact returns a value with all its digits.
func exact(b []byte, v float64) []byte {
	if text := notFinite(v); text != "" {
		return append(b, text...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// short returns a value with about five digits for a table.
func short(v float64) string {
	const digits = 5
	if text := notFinite(v); text != "" {
		return text
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
