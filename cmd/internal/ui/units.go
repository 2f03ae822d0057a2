package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"torchx/runtime/humanize"
	"torchx/runtime/spec"
)

// usageNotes returns the peak memory and CPU time of an ended attempt, where known.
func usageNotes(r *spec.ReplicaStatus) []string {
	var notes []string
	if r.MaxRSSBytes != nil {
		notes = append(notes, BytesText(*r.MaxRSSBytes)+" peak")
	}
	if r.CPUSeconds != nil {
		notes = append(notes, SecondsText(*r.CPUSeconds)+" CPU")
	}
	return notes
}

// PeakText returns a peak of the memory with what it is of: "961 MiB (tree)". It is "" for nil.
func PeakText(bytes *int64, source string) string {
	switch {
	case bytes == nil:
		return ""
	case source == "":
		return BytesText(*bytes)
	}
	return BytesText(*bytes) + " (" + source + ")"
}

// BytesText returns a number of bytes with about three digits: 512 B, 12.3 MiB.
func BytesText(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, prefix := float64(n)/unit, 0
	for value >= 999.5 && prefix < len(binaryPrefixes)-1 {
		value /= unit
		prefix++
	}
	digits := 1
	if value >= 99.95 {
		digits = 0
	}
	return fmt.Sprintf("%.*f %ciB", digits, value, binaryPrefixes[prefix])
}

// OptionalBytes is BytesText, or "-" for nil.
func OptionalBytes(n *int64) string {
	if n == nil {
		return "-"
	}
	return BytesText(*n)
}

// binaryPrefixes are the prefixes of 1024, 1024² and so on.
const binaryPrefixes = "KMGTPE"

// SecondsText returns a CPU time, to the hundredth of a second below a minute.
func SecondsText(s float64) string {
	if s < 60 {
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	}
	return Clock(int64(s))
}

// Took returns a duration: in milliseconds below a minute, in seconds below a day.
func Took(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return d.Round(time.Millisecond).String()
	case d < day:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%dd%s", d/day, strings.TrimSuffix((d%day).Truncate(time.Minute).String(), "0s"))
}

// Clock returns seconds as M:SS or H:MM:SS, with days if any.
func Clock(s int64) string {
	if s < 0 {
		s = 0
	}
	days, hours, minutes := s/86400, s/3600%24, s/60%60
	switch {
	case days > 0:
		return fmt.Sprintf("%dd%02d:%02d:%02d", days, hours, minutes, s%60)
	case hours > 0:
		return fmt.Sprintf("%d:%02d:%02d", hours, minutes, s%60)
	}
	return fmt.Sprintf("%d:%02d", minutes, s%60)
}

// Age returns a duration in the largest unit that fits: 5m.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// ParseBytes parses a number of bytes as users type it: 500, 10M, 10GB.
func ParseBytes(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	switch {
	case errors.Is(err, humanize.ErrRange):
		return 0, fmt.Errorf("invalid size %s: it is too large", QuoteWord(text))
	case err != nil:
		return 0, fmt.Errorf("invalid size %s: want bytes, or a number with K, M, G or T (10G)", QuoteWord(text))
	}
	return n, nil
}

// ParseTime parses a time as users type it: RFC 3339, unix seconds or an age.
func ParseTime(text string, now time.Time) (time.Time, error) {
	t, err := humanize.ParseTime(text, now)
	if err != nil {
		return t, fmt.Errorf("invalid time %s: %w", QuoteWord(text), err)
	}
	return t, nil
}
