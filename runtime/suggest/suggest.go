// Package suggest finds the word that a user probably meant. Words are compared
// character by character as Python's difflib.get_close_matches does, so that
// the suggestions of TorchX users are the ones they know.
package suggest

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// cutoff is the least similarity of a suggestion: the default of
// difflib.get_close_matches, which TorchX uses.
const cutoff = 0.6

// maxLength bounds the words that are compared, in bytes: the comparison is quadratic.
const maxLength = 200

// maxWords bounds how many words are compared: each takes 50 µs and more, and a repository can
// have any number of branches.
const maxWords = 2000

// Closest returns the word of among that is most similar to word, and whether any is
// similar. Of equally similar words it returns the last in the alphabet, as Python does.
func Closest(word string, among []string) (string, bool) {
	if len(word) > maxLength {
		return "", false
	}
	target := strings.Split(word, "")
	best, found, score := "", false, cutoff
	for _, candidate := range among[:min(len(among), maxWords)] {
		if len(candidate) > maxLength {
			continue
		}
		ratio := difflib.NewMatcher(strings.Split(candidate, ""), target).Ratio()
		if ratio > score || ratio == score && (!found || candidate > best) {
			best, found, score = candidate, true, ratio
		}
	}
	return best, found
}

// Hint returns ` Did you mean X?` for the end of an error about word, or "".
func Hint(word string, among []string) string {
	closest, ok := Closest(word, among)
	if !ok {
		return ""
	}
	return " Did you mean " + closest + "?"
}
