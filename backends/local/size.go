package local

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// sizeUnits are powers of 1024, as in docker, with or without an i.
var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kb": 1 << 10, "kib": 1 << 10,
	"m": 1 << 20, "mb": 1 << 20, "mib": 1 << 20,
	"g": 1 << 30, "gb": 1 << 30, "gib": 1 << 30,
	"t": 1 << 40, "tb": 1 << 40, "tib": 1 << 40,
}

// parseSize returns the bytes of a number with a unit, such as 512MiB, 1.5g or 4096.
// Units are powers of 1024, upper or lower case.
func parseSize(text string) (int64, error) {
	number := strings.TrimRight(text, "bBiIkKmMgGtT")
	unit, known := sizeUnits[strings.ToLower(text[len(number):])]
	v, err := strconv.ParseFloat(number, 64)
	if v *= unit; err != nil || !known || v < 0 || v >= math.MaxInt64 || v != v {
		return 0, fmt.Errorf("%q is not a size: use a number with B, KiB, MiB, GiB or TiB, such as 512MiB", text)
	}
	return int64(v), nil
}
