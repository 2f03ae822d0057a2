package secrets

import (
	"fmt"
	"strings"
)

// Restore returns a text that a user made by editing what mask shows of old: what is Hidden there
// is as in old. It refuses a text from which it cannot tell which secrets of old were kept, and
// one that would show them.
func Restore(old, edited string, mask func(string) string) (string, error) {
	shown := mask(old)
	switch {
	case shown == old || !strings.Contains(edited, Hidden):
		return edited, nil
	case shown == edited:
		return old, nil
	}
	secrets, texts := hiddenParts(old, shown), strings.Split(edited, Hidden)
	if len(secrets) != len(texts)-1 {
		return "", fmt.Errorf("secrets shown as %s: %d in the old text, %d in the new one: keep each once, or write out new ones", Hidden, len(secrets), len(texts)-1)
	}
	var b strings.Builder
	for i, secret := range secrets {
		b.WriteString(texts[i] + secret)
	}
	b.WriteString(texts[len(secrets)])
	if mask(b.String()) != mask(edited) {
		return "", fmt.Errorf("the new text would show what %s hides: keep the name before it", Hidden)
	}
	return b.String(), nil
}

// hiddenParts returns the parts of a text that are Hidden where it is shown.
func hiddenParts(text, shown string) (parts []string) {
	around := strings.Split(shown, Hidden)
	text = strings.TrimPrefix(text, around[0])
	for i, next := range around[1:] {
		end := strings.Index(text, next)
		if i == len(around)-2 {
			end = len(text) - len(next)
		}
		end = max(0, end) // not found: the rules hid more than a part
		parts = append(parts, text[:end])
		text = strings.TrimPrefix(text[end:], next)
	}
	return parts
}
