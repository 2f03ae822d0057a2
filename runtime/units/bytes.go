// Package units reads and writes amounts of bytes and of time as people type them.
package units

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// prefixes are those of 1024, 1024² and so on.
const prefixes = "KMGTPE"

// maxText bounds what is read, in bytes: no amount needs more.
const maxText = 40

// ErrForm says that a text is no amount at all, ErrRange that it is too large for 64 bits.
var (
	ErrForm  = errors.New("not an amount")
	ErrRange = errors.New("too large")
)

// ParseBytes reads an amount of bytes as coreutils do: 500, 10M and 10MiB count by
// 1024, 10MB by 1000. Parts of a byte are dropped. Errors: ErrForm, ErrRange.
func ParseBytes(text string) (int64, error) {
	number, unit := cutNumber(text)
	factor, ok := bytesFactor(strings.ToLower(strings.TrimPrefix(unit, " ")))
	n, isNumber := decimal(number)
	if !ok || !isNumber || len(text) > maxText {
		return 0, ErrForm
	}
	n.Mul(n, new(big.Rat).SetInt(factor))
	whole := new(big.Int).Quo(n.Num(), n.Denom())
	if !whole.IsInt64() {
		return 0, ErrRange
	}
	return whole.Int64(), nil
}

// bytesFactor is what a unit in lower case counts: "", "b", "k", "kb", "ki", "kib" …
func bytesFactor(unit string) (*big.Int, bool) {
	if unit == "" || unit == "b" {
		return big.NewInt(1), true
	}
	power := strings.IndexByte(strings.ToLower(prefixes), unit[0]) + 1
	base := int64(1024)
	switch unit[1:] {
	case "", "i", "ib":
	case "b":
		base = 1000
	default:
		return nil, false
	}
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(power)), nil), power > 0
}

// cutNumber parts the digits in front, with a point, from what follows.
func cutNumber(text string) (number, rest string) {
	i := 0
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
		i++
	}
	return text[:i], text[i:]
}

// decimal reads 12, 1.5, .5 or 1. exactly.
func decimal(text string) (*big.Rat, bool) {
	if text == "." {
		return nil, false
	}
	return new(big.Rat).SetString(text) // refuses "" and a second point
}

// FormatBytes writes an amount so that ParseBytes reads the same again, with the
// largest unit that divides it: 16GiB, 1000, 0.
func FormatBytes(n int64) string {
	unit := ""
	for i := 0; i < len(prefixes) && n != 0 && n%1024 == 0; i++ {
		n /= 1024
		unit = prefixes[i:i+1] + "iB"
	}
	return strconv.FormatInt(n, 10) + unit
}
