package humanize

import (
	"errors"
	"math"
	"testing"
	"time"
)

func TestParseBytes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"0": 0, "500": 500, "1K": 1024, "1k": 1024, "2MiB": 2 << 20, "2Mi": 2 << 20, "1.5G": 3 << 29, "10GB": 10e9, "1 TB": 1e12, "7B": 7,
		"1.9": 1, ".5k": 512, "1E": 1 << 60, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseBytes(text); err != nil || got != want {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"": ErrForm, ".": ErrForm, "K": ErrForm, "1x": ErrForm, "1KK": ErrForm, "-1": ErrForm, "1.2.3": ErrForm, "1 ": nil, "1bb": ErrForm,
		"1ib": ErrForm, "1e3": ErrForm, "99999999999999999999": ErrRange, "8E": ErrRange,
	} {
		if got, err := ParseBytes(text); !errors.Is(err, want) {
			t.Errorf("%q: got %d, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90": 90 * time.Second, "0.5": 500 * time.Millisecond, "1h30m": 90 * time.Minute, "1.5d": 36 * time.Hour, "2w": 14 * 24 * time.Hour,
		"500ms": 500 * time.Millisecond, "1m500ms": time.Minute + 500*time.Millisecond, "0": 0, "3us": 3000, "0.1s": 100 * time.Millisecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"": ErrForm, "s": ErrForm, "1x": ErrForm, "-5m": ErrForm, "1h30": ErrForm, "1 h": ErrForm, "1e3": ErrForm, "NaN": ErrForm, "1mm": ErrForm,
		"99999999999999": ErrRange,
	} {
		if got, err := ParseDuration(text); !errors.Is(err, want) || err == nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestFormatIsReadBack(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 1000: "1000", 1024: "1KiB", 16 << 30: "16GiB", 3 << 19: "1536KiB", 1 << 60: "1EiB"} {
		got := FormatBytes(n)
		if back, err := ParseBytes(got); got != want || back != n || err != nil {
			t.Errorf("%d: got %q (%d, %v), want %q", n, got, back, err, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Minute: "1h30m", 36 * time.Hour: "1d12h", 1500 * time.Millisecond: "1s500ms", 10 * 24 * time.Hour: "10d",
	} {
		got := FormatDuration(d)
		if back, err := ParseDuration(got); got != want || back != d || err != nil {
			t.Errorf("%v: got %q (%v, %v), want %q", d, got, back, err, want)
		}
	}
	if got := FormatDuration(math.MinInt64); got == "" {
		t.Error("smallest duration: got an empty text")
	}
}

func TestRoundBytes(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint64]string{0: "0 bytes", 1023: "1023 bytes", 1536: "1.5 KiB", 64 << 20: "64 MiB", 3 << 30: "3 GiB", 1 << 63: "8192 PiB"} {
		if got := RoundBytes(n); got != want {
			t.Errorf("RoundBytes(%d): got %q, want %q", n, got, want)
		}
	}
}
