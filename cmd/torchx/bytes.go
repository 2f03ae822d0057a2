package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

var bytesPattern = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?([kKmMgGtTpP]?)(i?)([bB]?)$`)

// parseBytes reads an amount of bytes as coreutils do: 500, 10M and 10MiB count
// by 1024, 10MB by 1000.
func parseBytes(text string) (int64, error) {
	m := bytesPattern.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[3] != "" {
		return 0, fmt.Errorf("invalid size %s: write bytes, or a number with K, M, G or T (10G)", quoteWord(text))
	}
	n, err := strconv.ParseFloat(m[1], 64)
	unit := 1024.0
	if m[2] != "" && m[3] == "" && m[4] != "" {
		unit = 1000
	}
	if m[2] != "" {
		n *= math.Pow(unit, float64(strings.Index(binaryPrefixes, strings.ToUpper(m[2]))+1))
	}
	if err != nil || n >= math.MaxInt64 {
		return 0, fmt.Errorf("invalid size %s: it is too large", quoteWord(text))
	}
	return int64(n), nil
}
