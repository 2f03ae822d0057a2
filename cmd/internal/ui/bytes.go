package ui

import (
	"errors"
	"fmt"

	"torchx/runtime/units"
)

// ParseBytes reads an amount of bytes that the user typed: 500, 10M, 10GB.
func ParseBytes(text string) (int64, error) {
	n, err := units.ParseBytes(text)
	switch {
	case errors.Is(err, units.ErrRange):
		return 0, fmt.Errorf("invalid size %s: it is too large", QuoteWord(text))
	case err != nil:
		return 0, fmt.Errorf("invalid size %s: write bytes, or a number with K, M, G or T (10G)", QuoteWord(text))
	}
	return n, nil
}
