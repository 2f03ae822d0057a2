package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"torchx/runtime/humanize"
)

// MaxTags is the number of tags that an app may have.
const MaxTags = 64

// Limits of labels in bytes: what a table, a file name or a label of a cluster can hold.
const (
	maxTagKey   = 63
	maxTagValue = 256
	maxNote     = 4096
)

// ParseTag parses KEY or KEY=VALUE; ok reports whether there is a "=".
func ParseTag(text string) (key, value string, ok bool, err error) {
	key, value, ok = strings.Cut(text, "=")
	return key, value, ok, checkTag(key, value)
}

// ParseTags parses tags; a later one replaces an earlier one with its key.
func ParseTags(texts []string) (map[string]string, error) {
	tags := map[string]string{}
	for _, text := range texts {
		key, value, _, err := ParseTag(text)
		if err != nil {
			return nil, err
		}
		tags[key] = value
	}
	return tags, CheckTags(tags)
}

// FormatTags returns tags as they are typed, in the order of their keys.
func FormatTags(tags map[string]string, separator string) string {
	var words []string
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		word := key
		if value := tags[key]; value != "" {
			word += "=" + value
		}
		words = append(words, word)
	}
	return strings.Join(words, separator)
}

// CheckTags returns an error if there are too many tags.
func CheckTags(tags map[string]string) error {
	if len(tags) > MaxTags {
		return fmt.Errorf("%d tags, want at most %d", len(tags), MaxTags)
	}
	return nil
}

// ValidTag reports whether an app may have this tag.
func ValidTag(key, value string) bool { return checkTag(key, value) == nil }

func checkTag(key, value string) error {
	keyRune := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._/-", r)
	}
	switch {
	case key == "":
		return fmt.Errorf("tag %s has no key: write KEY or KEY=VALUE", humanize.Quote("="+value))
	case strings.ContainsFunc(key, func(r rune) bool { return !keyRune(r) }) || strings.HasSuffix(key, "-") || !utf8.ValidString(key):
		return fmt.Errorf("tag key %s is invalid: use letters, digits and . _ / - (not at the end)",
			humanize.Quote(key))
	case len(key) > maxTagKey:
		return fmt.Errorf("tag key %s has %d bytes, want at most %d", humanize.Quote(key),
			len(key), maxTagKey)
	case !utf8.ValidString(value) || strings.ContainsFunc(value, unicode.IsControl):
		return fmt.Errorf("the value of tag %s has control characters or is not UTF-8", key)
	case len(value) > maxTagValue:
		return fmt.Errorf("the value of tag %s has %d bytes, want at most %d", key,
			len(value), maxTagValue)
	}
	return nil
}

// CheckNote returns an error if a note cannot be kept or printed.
func CheckNote(note string) error {
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	switch {
	case !utf8.ValidString(note) || strings.ContainsFunc(note, control):
		return fmt.Errorf("the note has control characters or is not UTF-8")
	case len(note) > maxNote:
		return fmt.Errorf("the note has %d bytes, want at most %d", len(note), maxNote)
	}
	return nil
}
