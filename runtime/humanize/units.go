package humanize

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prefixes of 1024, 1024² and so on.
const prefixes = "KMGTPE"

// maxAmount bounds accepted texts in bytes: no amount needs more.
const maxAmount = 40

// ErrForm means that a text is not an amount, ErrRange that the amount exceeds 64 bits.
var (
	ErrForm  = errors.New("not an amount")
	ErrRange = errors.New("too large")
)

// ParseBytes parses an amount of bytes like coreutils: 10M and 10MiB use powers of 1024, 10MB of
// 1000. It rounds down. Errors: ErrForm, ErrRange.
func ParseBytes(text string) (int64, error) {
	number, unit := cutNumber(text)
	factor, ok := bytesFactor(strings.ToLower(strings.TrimPrefix(unit, " ")))
	n, isNumber := parseDecimal(number)
	if !ok || !isNumber || len(text) > maxAmount {
		return 0, ErrForm
	}
	n.Mul(n, new(big.Rat).SetInt(factor))
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return 0, ErrRange
	}
	return whole.Int64(), nil
}

// bytesFactor returns the number of bytes of a unit in lower case: "", "b", "k", "kb", "ki",
// "kib" …
func bytesFactor(unit string) (*big.Int, bool) {
	if unit == "" || unit == "b" {
		return big.NewInt(1), true
	}
	power := strings.IndexByte(strings.ToLower(prefixes), unit[0]) + 1
	base := int64(1024)
	switch unit[1:] {
	case "", "i", "ib":
	case "b":
		base = 1000
	default:
		return nil, false
	}
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(power)), nil), power > 0
}

// cutNumber separates the leading digits, with a point, from the rest.
func cutNumber(text string) (number, rest string) {
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
		i++
	}
	return text[:i], text[i:]
}

// parseDecimal parses 12, 1.5, .5 or 1. exactly.
func parseDecimal(text string) (*big.Rat, bool) {
	if text == "." {
		return nil, false
	}
	return new(big.Rat).SetString(text) // rejects "" and a second point
}

// FormatBytes formats an amount with the largest unit that divides it (16GiB, 1000, 0), so that
// ParseBytes can parse it.
func FormatBytes(n int64) string {
	unit := ""
	for i := 0; i < len(prefixes) && n != 0 && n%1024 == 0; i++ {
		n /= 1024
		unit = prefixes[i:i+1] + "iB"
	}
	return strconv.FormatInt(n, 10) + unit
}

type durationUnit struct {
	name string
	size time.Duration
}

// durationUnits are the units of time, largest first.
var durationUnits = [...]durationUnit{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
	{"us", time.Microsecond},
	{"ns", time.Nanosecond},
}

// RoundBytes formats an amount for people, with one decimal: 9.5 MiB.
func RoundBytes(n uint64) string {
	names := []string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i, f := 0, float64(n)
	for f >= 1024 && i < len(names)-1 {
		f, i = f/1024, i+1
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", f), ".0") + " " + names[i]
}

// ParseDuration parses seconds (90, 0.5) or numbers with units (1h30m, 1.5d, 500ms): Go's, d and w.
// It rounds down to nanoseconds. Errors: ErrForm, ErrRange (over 292 years).
func ParseDuration(text string) (time.Duration, error) {
	if text == "" || len(text) > maxAmount {
		return 0, ErrForm
	}
	sum := new(big.Rat)
	for rest := text; rest != ""; {
		number, after := cutNumber(rest)
		n, ok := parseDecimal(number)
		if !ok {
			return 0, ErrForm
		}
		unit := after[:len(after)-len(strings.TrimLeft(after, "wdhmsun"))]
		if unit == "" && after == "" && number == text {
			unit = "s"
		}
		i := slices.IndexFunc(durationUnits[:], func(u durationUnit) bool { return u.name == unit })
		if i < 0 {
			return 0, ErrForm
		}
		sum.Add(sum, n.Mul(n, new(big.Rat).SetInt64(int64(durationUnits[i].size))))
		rest = strings.TrimPrefix(after, unit)
	}
	whole := new(big.Int).Quo(sum.Num(), sum.Denom())
	if !whole.IsInt64() {
		return 0, ErrRange
	}
	return time.Duration(whole.Int64()), nil
}

// FormatDuration formats a duration with few units, so that ParseDuration can parse it: 0s, 90m is
// 1h30m, 36h is 1d12h. A negative one has a sign.
func FormatDuration(d time.Duration) string {
	if d == 0 {
		return "0s"
	}
	if d == math.MinInt64 { // has no positive counterpart
		return d.String()
	}
	if d < 0 {
		return "-" + FormatDuration(-d)
	}
	var b strings.Builder
	for _, u := range durationUnits[1:] { // 10d reads better than 1w3d
		if n := d / u.size; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + u.name)
			d -= n * u.size
		}
	}
	return b.String()
}
