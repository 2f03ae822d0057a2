package ui

import (
	"testing"
	"time"
)

func TestUsageTexts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 99 << 20: "99.0 MiB", 100 << 20: "100 MiB", 1000 << 20: "1.0 GiB", 3 << 40: "3.0 TiB"} {
		if got := BytesText(n); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0.00 s", 59.99: "59.99 s", 61: "1:01", 3723: "1:02:03", 90061: "1d01:01:01"} {
		if got := SecondsText(n); got != want {
			t.Errorf("%v: got %q, want %q", n, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"4ms": 4400 * time.Microsecond, "59.999s": time.Minute - time.Millisecond, "1m30s": 90*time.Second + time.Millisecond,
		"2h0m1s": 2*time.Hour + time.Second, "3d1h5m": 73*time.Hour + 5*time.Minute + 9*time.Second,
	} {
		if got := Took(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestAge(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]time.Duration{
		"0s": -time.Second, "59s": 59 * time.Second, "2m": 150 * time.Second,
		"47h": 47*time.Hour + time.Minute, "3d": 80 * time.Hour,
	} {
		if got := Age(d); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestParseBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "500": 500, "1K": 1024, "1k": 1024, "2MiB": 2 << 20, "1.5G": 3 << 29, "10GB": 10e9, "1 TB": 1e12, "7B": 7,
	} {
		if got, err := ParseBytes(text); got != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "-1", "G", "1X", "1iB", "1e3", "99999999P", "1 2"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}
