package humanize

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		in   string
		want time.Time
	}{
		{"2026-01-31T11:00:00Z", now.Add(-time.Hour)},
		{"2026-01-31T11:00:00.5+00:00", now.Add(-time.Hour + 500*time.Millisecond)},
		{"0", time.Unix(0, 0)},
		{"1700000000.25", time.Unix(1700000000, 250e6)},
		{"10m", now.Add(-10 * time.Minute)},
		{"1h30m", now.Add(-90 * time.Minute)},
		{"3d", now.Add(-72 * time.Hour)},
		{"0.5d", now.Add(-12 * time.Hour)},
		{"1w", now.Add(-7 * 24 * time.Hour)},
	} {
		got, err := ParseTime(c.in, now)
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"", "yesterday", "-5m", "-5", "d", "NaN", "Inf", "1e300", "-1d", "2026-13-01T00:00:00Z"} {
		if got, err := ParseTime(in, now); err == nil {
			t.Errorf("%q: got %v, want an error", in, got)
		}
	}
}

// FuzzParseTime checks that accepted times fit in nanoseconds, and that an age is never in the
// future.
func FuzzParseTime(f *testing.F) {
	f.Add("10m")
	f.Add("2026-01-31T11:00:00Z")
	f.Add("99999999d")
	f.Add("1e9")
	f.Fuzz(func(t *testing.T, text string) {
		now := time.Unix(1700000000, 0)
		got, err := ParseTime(text, now)
		if err != nil {
			return
		}
		if _, err := time.ParseDuration(text); err == nil && got.After(now) && text != "0" {
			t.Errorf("%q: got %v, want no later than now", text, got)
		}
		if back := time.Unix(0, got.UnixNano()); !back.Equal(got) {
			t.Errorf("%q: got %v, want a time that fits in nanoseconds", text, got)
		}
	})
}
