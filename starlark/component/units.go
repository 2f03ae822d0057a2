package component

import (
	"math"
	"time"

	"go.starlark.net/starlark"

	"torchx/runtime/units"
)

// parseDuration reads a time as text; the value is in seconds.
func parseDuration(text string) (starlark.Value, bool) {
	d, err := units.ParseDuration(text)
	if err != nil {
		return nil, false
	}
	if d%time.Second == 0 {
		return starlark.MakeInt64(int64(d / time.Second)), true
	}
	return starlark.Float(d.Seconds()), true
}

func parseByteSize(text string) (starlark.Value, bool) {
	n, err := units.ParseBytes(text)
	if err != nil {
		return nil, false
	}
	return starlark.MakeInt64(n), true
}

// maxSeconds is the longest time that can be written with units: what fits in a time.Duration.
const maxSeconds = math.MaxInt64 / int64(time.Second)

// showDuration writes seconds as parseDuration reads them; false if v is no time.
func showDuration(v starlark.Value) (string, bool) {
	seconds, ok := starlark.AsFloat(v)
	if !ok || !(seconds >= 0) || seconds > float64(maxSeconds) {
		return "", false
	}
	if n, whole := v.(starlark.Int); whole {
		whole, _ := n.Int64() // within maxSeconds
		return units.FormatDuration(time.Duration(whole) * time.Second), true
	}
	return units.FormatDuration(time.Duration(math.Round(seconds * float64(time.Second)))), true
}

// showByteSize writes bytes as parseByteSize reads them; false if v is no size.
func showByteSize(v starlark.Value) (string, bool) {
	n, ok := v.(starlark.Int)
	if !ok {
		return "", false
	}
	size, ok := n.Int64()
	if !ok || size < 0 {
		return "", false
	}
	return units.FormatBytes(size), true
}
