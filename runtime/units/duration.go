package units

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// durationUnits are the units of time, the largest first.
var durationUnits = [...]struct {
	name string
	size time.Duration
}{
	{"w", 7 * 24 * time.Hour},
	{"d", 24 * time.Hour},
	{"h", time.Hour},
	{"m", time.Minute},
	{"s", time.Second},
	{"ms", time.Millisecond},
	{"us", time.Microsecond},
	{"ns", time.Nanosecond},
}

// ParseDuration reads seconds (90, 0.5) or numbers with units (1h30m, 1.5d, 500ms):
// those of Go, d for days and w for weeks. Nothing is negative, and parts of a
// nanosecond are dropped. Errors: ErrForm, ErrRange (over 292 years).
func ParseDuration(text string) (time.Duration, error) {
	if text == "" || len(text) > maxText {
		return 0, ErrForm
	}
	sum := new(big.Rat)
	for rest := text; rest != ""; {
		number, after := cutNumber(rest)
		n, ok := decimal(number)
		if !ok {
			return 0, ErrForm
		}
		unit := after[:len(after)-len(strings.TrimLeft(after, "wdhmsun"))]
		if unit == "" && after == "" && number == text {
			unit = "s"
		}
		size, ok := durationUnit(unit)
		if !ok {
			return 0, ErrForm
		}
		sum.Add(sum, n.Mul(n, new(big.Rat).SetInt64(int64(size))))
		rest = strings.TrimPrefix(after, unit)
	}
	whole := new(big.Int).Quo(sum.Num(), sum.Denom())
	if !whole.IsInt64() {
		return 0, ErrRange
	}
	return time.Duration(whole.Int64()), nil
}

func durationUnit(name string) (time.Duration, bool) {
	for _, u := range durationUnits {
		if u.name == name {
			return u.size, true
		}
	}
	return 0, false
}

// FormatDuration writes a time so that ParseDuration reads the same again, in as
// few units as there are: 0s, 90m is 1h30m, 36h is 1d12h. A negative one has a sign.
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
