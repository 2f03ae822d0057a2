package plot

import (
	"cmp"
	"strings"
)

// NeedsASCII reports whether a terminal with these environment variables cannot show block and
// braille characters: the locale is set to one without UTF-8, or the console has no such font.
func NeedsASCII(env func(name string) string) bool {
	if term := env("TERM"); term == "linux" || term == "dumb" {
		return true
	}
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	return locale != "" && !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8")
}
