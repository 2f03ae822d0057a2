package kv

// quoted tells for each byte of text whether it lies in a quoted stretch,
// quotes included.
func quoted(text string) []bool {
	mask := make([]bool, len(text))
	// A quote that has no partner proves that later quotes of its kind have
	// none either; remembering that keeps the scan linear.
	alone := map[byte]bool{}
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '"' && c != '\'' || alone[c] {
			continue
		}
		stop := closing(text, i)
		if stop < 0 {
			alone[c] = true
			continue
		}
		for ; i < stop; i++ {
			mask[i] = true
		}
		mask[stop] = true
	}
	return mask
}

// closing returns the offset of the partner of the quote at open, or -1 if
// there is no quote at open or no partner.
func closing(text string, open int) int {
	quote := text[open]
	if quote != '"' && quote != '\'' {
		return -1
	}
	for i := open + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return -1
}
