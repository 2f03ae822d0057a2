package main

import (
	"errors"
	"fmt"

	"torchx/runtime/units"
)

// parseBytes reads an amount of bytes that the user typed: 500, 10M, 10GB.
func parseBytes(text string) (int64, error) {
	n, err := units.ParseBytes(text)
	switch {
	case errors.Is(err, units.ErrRange):
		return 0, fmt.Errorf("invalid size %s: it is too large", quoteWord(text))
	case err != nil:
		return 0, fmt.Errorf("invalid size %s: write bytes, or a number with K, M, G or T (10G)", quoteWord(text))
	}
	return n, nil
}
