package ui

import (
	"testing"
)

func TestUsageTexts(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 99 << 20: "99.0 MiB", 100 << 20: "100 MiB", 1000 << 20: "1.0 GiB", 3 << 40: "3.0 TiB"} {
		if got := BytesText(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	for n, want := range map[float64]string{0: "0.00 s", 59.99: "59.99 s", 61: "1:01", 3723: "1:02:03", 90061: "1d01:01:01"} {
		if got := secondsText(n); got != want {
			t.Errorf("%v: %q, want %q", n, got, want)
		}
	}
}
