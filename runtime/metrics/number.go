package metrics

import (
	"math"
	"strconv"
	"strings"
)

// exactPowers are the powers of ten that a float64 holds exactly.
var exactPowers = [...]float64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

// parseNumber parses a decimal number, NaN or Infinity in any spelling of Python, C or
// JavaScript. A number too large for a float64 is infinite.
func parseNumber(b []byte) (float64, bool) {
	if v, ok := parseShort(b); ok {
		return v, true
	}
	if len(b) == 0 || len(b) > 1000 {
		return 0, false
	}
	text := string(b)
	if strings.ContainsAny(text, "_xXpP") { // Go's own notations
		return 0, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}

// parseShort parses the usual numbers exactly: at most 15 digits and no exponent
// (W. D. Clinger, How to read floating point numbers accurately, 1990).
func parseShort(b []byte) (float64, bool) {
	i, negative := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		negative = b[0] == '-'
		i++
	}
	var digits int64
	n, fraction := 0, -1
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			digits = 10*digits + int64(c-'0')
			if n++; n > 15 {
				return 0, false
			}
		case c == '.' && fraction < 0:
			fraction = n
		default:
			return 0, false
		}
	}
	if n == 0 {
		return 0, false
	}
	v := float64(digits)
	if fraction >= 0 {
		v /= exactPowers[n-fraction]
	}
	if negative {
		v = -v
	}
	return v, true
}

// wholeStep converts a step; ok is false if it is not a whole number that a float64 holds
// exactly.
func wholeStep(v float64) (int64, bool) {
	if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return 0, false
	}
	return int64(v), true
}
