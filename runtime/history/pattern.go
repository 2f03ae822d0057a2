package history

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"torchx/runtime/humanize"
)

// PatternChars are the characters that make a text a pattern.
const PatternChars = "*?["

// Pattern compiles a pattern as SQLite's GLOB reads it: "*" matches any text, also with "/", "?"
// one character, and "[…]" or "[^…]" one of a class.
func Pattern(text string) (*regexp.Regexp, error) {
	var re strings.Builder
	re.WriteString(`(?s)^`)
	for rest := text; rest != ""; {
		c := rest[0]
		rest = rest[1:]
		switch c {
		case '*':
			re.WriteString(`.*`)
		case '?':
			re.WriteByte('.')
		case '[':
			class, after, err := cutClass(rest)
			if err != nil {
				return nil, fmt.Errorf("pattern %s: %w", humanize.Quote(text), err)
			}
			re.WriteString(class)
			rest = after
		default:
			re.WriteString(regexp.QuoteMeta(string([]byte{c})))
		}
	}
	compiled, err := regexp.Compile(re.String() + `$`)
	if err != nil {
		return nil, fmt.Errorf("pattern %s: a range in [...] is reversed, or it is not UTF-8",
			humanize.Quote(text))
	}
	return compiled, nil
}

// cutClass translates the text after a "[" up to the "]". A "]" that comes first is a member.
func cutClass(text string) (class, rest string, err error) {
	open := "["
	if members, ok := strings.CutPrefix(text, "^"); ok {
		open, text = "[^", members
	}
	end := -1
	if text != "" {
		end = strings.IndexByte(text[1:], ']') + 1
	}
	if end <= 0 {
		return "", "", errors.New("[ without ]: write [[] for the character")
	}
	return open + strings.NewReplacer(`\`, `\\`, `[`, `\[`, `]`, `\]`, `&`, `\&`, `~`, `\~`).Replace(text[:end]) + "]", text[end+1:], nil
}
