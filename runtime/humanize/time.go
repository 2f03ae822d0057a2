package humanize

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// ParseTime parses a time as users write it: RFC 3339, unix seconds (with or without a fraction),
// or an age such as 90s, 10m, 2h30m, 3d or 1w before now. The result fits in nanoseconds since
// 1970.
func ParseTime(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		if t.Year() < 1970 || t.Year() > 2242 {
			return t, errors.New("the year is not between 1970 and 2242")
		}
		return t, nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return unixSeconds(seconds)
	}
	if age, err := ParseDuration(text); err == nil {
		return now.Add(-age), nil
	}
	return time.Time{}, errors.New("write RFC 3339 (2026-01-31T08:00:00Z), unix seconds or an age (10m, 2h, 3d)")
}

func unixSeconds(seconds float64) (time.Time, error) {
	const limit = 1 << 33 // early in 2242; nanoseconds since 1970 fit in 64 bits until 2262
	if math.IsNaN(seconds) || seconds < 0 || seconds > limit {
		return time.Time{}, fmt.Errorf("not between 0 and %d unix seconds", int64(limit))
	}
	whole := math.Floor(seconds)
	return time.Unix(int64(whole), int64((seconds-whole)*1e9)), nil
}
