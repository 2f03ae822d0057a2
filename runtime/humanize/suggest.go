package humanize

import (
	"slices"
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
	best, found, score := "", false, cutoff
	for _, candidate := range candidates[:min(len(candidates), maxWords)] {
		if len(candidate) > maxLength {
			continue
		}
		ratio := similarity(word, candidate)
		if ratio > score || ratio == score && (!found || candidate > best) {
			best, found, score = candidate, true, ratio
		}
	}
	return best, found
}

// similarity is between 0 and 1.
func similarity(word, candidate string) float64 {
	return difflib.NewMatcher(strings.Split(candidate, ""), strings.Split(word, "")).Ratio()
}

// ClosestPath is Closest for files and dotted names, whose last parts must be similar, too: the
// folder and the ending that all share do not make a.star a slip of the pen for b.star.
func ClosestPath(word string, candidates []string) (string, bool) {
	if len(word) > maxLength {
		return "", false
	}
	last := lastPart(word)
	return Closest(word, slices.DeleteFunc(slices.Clone(candidates[:min(len(candidates), maxWords)]), func(c string) bool {
		return len(c) <= maxLength && similarity(last, lastPart(c)) < cutoff
	}))
}

// lastPart returns the name of a file without .star, or what is behind the last dot of another
// name.
func lastPart(name string) string {
	name = strings.TrimSuffix(name, ".star")
	return name[strings.LastIndexAny(name, "/.")+1:]
}

// Hint returns ` Did you mean X?` for the end of an error about word, or "".
func Hint(word string, candidates []string) string {
	return hint(Closest(word, candidates))
}

// HintPath is Hint for paths and dotted names, see ClosestPath.
func HintPath(word string, candidates []string) string {
	return hint(ClosestPath(word, candidates))
}

func hint(closest string, found bool) string {
	if !found {
		return ""
	}
	return " Did you mean " + closest + "?"
}
