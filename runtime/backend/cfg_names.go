package backend

import "strings"

// CamelToSnake turns validateSpec into validate_spec; other names stay as they are.
func CamelToSnake(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c < 'A' || c > 'Z' {
			b.WriteByte(c)
			continue
		}
		if i > 0 {
			b.WriteByte('_')
		}
		b.WriteByte(c - 'A' + 'a')
	}
	return b.String()
}

// SplitCSV cuts a list such as that of `status --roles a,b` at its commas and
// trims the parts, empty ones included; a blank text is an empty list.
func SplitCSV(text string) []string {
	list := []string{}
	if strings.TrimSpace(text) == "" {
		return list
	}
	for part := range strings.SplitSeq(text, ",") {
		list = append(list, strings.TrimSpace(part))
	}
	return list
}
