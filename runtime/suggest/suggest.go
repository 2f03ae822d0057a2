// Package suggest finds the word that a user probably meant. It compares words character by
// character like Python's difflib.get_close_matches, which TorchX uses, so that users get the same
// suggestions.
package suggest

import (
	"strings"

	"github.com/pmezard/go-difflib/difflib"
)

// cutoff is the minimum similarity of a suggestion: the default of
// difflib.get_close_matches, which TorchX uses.
const cutoff = 0.6

// maxLength bounds the compared words in bytes: the comparison is quadratic.
const maxLength = 200

// maxWords bounds how many words are compared: each takes 50 µs or more, and a repository can have
// any number of branches.
const maxWords = 2000

// Closest returns the candidate that is most similar to word, and whether any is similar. Of
// equally similar ones it returns the alphabetically last, as Python does.
func Closest(word string, candidates []string) (string, bool) {
	if len(word) > maxLength {
		return "", false
	}
	target := strings.Split(word, "")
	best, found, score := "", false, cutoff
	for _, candidate := range candidates[:min(len(candidates), maxWords)] {
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
func Hint(word string, candidates []string) string {
	closest, ok := Closest(word, candidates)
	if !ok {
		return ""
	}
	return " Did you mean " + closest + "?"
}
