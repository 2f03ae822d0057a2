package observe

import (
	"strings"
	"unicode/utf8"
)

// maxText bounds what is shown of a cluster's message, in bytes: some hold whole objects.
const maxText = 400

// plain makes one line of what the cluster says.
func plain(text string) string {
	return cutText(strings.Join(strings.Fields(text), " "), maxText)
}

// cutText cuts what is longer than most bytes between two characters.
func cutText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// firstText is the first text that says something.
func firstText(texts ...string) string {
	for _, t := range texts {
		if t = plain(t); t != "" {
			return t
		}
	}
	return ""
}

// apiMessage is the message in an API error that Volcano printed as a Go value.
func apiMessage(text string) string {
	const begin, end = `Message:"`, `", Reason:`
	_, rest, ok := strings.Cut(text, begin)
	if !ok {
		return text
	}
	message, _, ok := strings.Cut(rest, end)
	if !ok {
		return text
	}
	return strings.ReplaceAll(message, `\"`, `"`)
}
