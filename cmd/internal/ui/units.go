package ui

import (
	"fmt"
	"strconv"

	"torchx/runtime/spec"
)

// usageNotes tell what an ended attempt used, where that is known.
func usageNotes(r *spec.ReplicaStatus) []string {
	var notes []string
	if r.MaxRSSBytes != nil {
		notes = append(notes, BytesText(*r.MaxRSSBytes)+" peak")
	}
	if r.CPUSeconds != nil {
		notes = append(notes, secondsText(*r.CPUSeconds)+" CPU")
	}
	return notes
}

// BytesText writes a number of bytes with three digits or so: 512 B, 12.3 MiB.
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

// binaryPrefixes are those of 1024, 1024² and so on.
const binaryPrefixes = "KMGTPE"

// secondsText writes a time that something took, to the hundredth below a minute.
func secondsText(s float64) string {
	if s < 60 {
		return strconv.FormatFloat(s, 'f', 2, 64) + " s"
	}
	return Clock(int64(s))
}

// Clock writes seconds as M:SS, H:MM:SS, or days before that.
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
