package library

import (
	"errors"
	"strconv"
	"strings"
)

// splitWords splits a line at blanks. A word with blanks is quoted ("…"), with escapes as in Go;
// # at the start of a word starts a comment.
func splitWords(line string) ([]string, error) {
	var words []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" || line[0] == '#' {
			return words, nil
		}
		word, rest, err := cutWord(line)
		if err != nil {
			return nil, err
		}
		words, line = append(words, word), rest
	}
}

func cutWord(line string) (word, rest string, err error) {
	if line[0] != '"' {
		end := strings.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if strings.Contains(line[:end], `"`) {
			return "", "", errors.New(`a " is allowed only at the start and the end of a word`)
		}
		return line[:end], line[end:], nil
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", errors.New(`a " is missing at the end of a word`)
	}
	rest = line[len(quoted):]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return "", "", errors.New(`a space is missing after a closing "`)
	}
	word, err = strconv.Unquote(quoted)
	return word, rest, err
}

// joinWords returns a line that splitWords splits into the words.
func joinWords(words ...string) string {
	for i, w := range words {
		if w == "" || strings.ContainsAny(w, " \t\"\\#") {
			words[i] = strconv.Quote(w)
		}
	}
	return strings.Join(words, " ")
}
