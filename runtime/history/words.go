package history

import (
	"slices"
	"strings"
	"unicode"
)

// Words splits a text into the words that a search compares: letters and digits, in lower case.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// FindWords reports whether text has each part of a search, between spaces: its words in their
// order. The last one is the beginning of a word if "*" follows. FindWords is for apps that the
// history does not have.
func FindWords(text, search string) bool {
	words := Words(text)
	return !slices.ContainsFunc(strings.Fields(search), func(part string) bool {
		return !hasPhrase(words, Words(part), strings.HasSuffix(part, "*"))
	})
}

func hasPhrase(words, phrase []string, prefix bool) bool {
	last := len(phrase) - 1
	if last < 0 {
		return true
	}
	for i := range len(words) - last {
		if !slices.Equal(words[i:i+last], phrase[:last]) {
			continue
		}
		if word := words[i+last]; word == phrase[last] || prefix &&
			strings.HasPrefix(word, phrase[last]) {
			return true
		}
	}
	return false
}
