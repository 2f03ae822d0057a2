// Package brief shortens what a message quotes, so that it stays a line that can be read:
// Quote and Text for a text, List for names to choose from.
package brief

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxText = 100 // characters of a text that Quote shows
	maxList = 500 // bytes of names that List shows
)

// Quote quotes a text, or its beginning.
func Quote(text string) string {
	head, mark := cut(text)
	return strconv.Quote(head) + mark
}

// Text returns a text, or its beginning and a mark.
func Text(text string) string {
	head, mark := cut(text)
	return head + mark
}

func cut(text string) (head, mark string) {
	n := 0
	for at := range text {
		if n++; n > maxText {
			return text[:at], "…"
		}
	}
	return text, ""
}

// List joins names by ", ". If they are long it says how many it leaves out.
func List(names []string) string {
	size := 0
	for i, n := range names {
		if size += len(n) + 2; size > maxList {
			shown := append(names[:i:i], fmt.Sprintf("… %d more", len(names)-i))
			return strings.Join(shown, ", ")
		}
	}
	return strings.Join(names, ", ")
}
