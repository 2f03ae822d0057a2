// Package humanize writes for people and reads what they type: quotations that fit in one line of a
// message (Quote, Text, List), the word that was probably meant (Closest, Hint), and amounts of
// bytes and time.
package humanize

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	maxText = 100 // maximum characters of Quote and Text
	maxList = 500 // maximum bytes of List
)

// Quote quotes a text, shortened.
func Quote(text string) string {
	head, mark := cut(text)
	return strconv.Quote(head) + mark
}

// Text returns a text, shortened with a mark.
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

// List joins names by ", ". A long list ends with the number of omitted names.
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
