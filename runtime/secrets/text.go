package secrets

import (
	"regexp"
	"strings"

	"torchx/runtime/lazyregexp"
)

// forms matches texts that are secrets by their form, as their makers document
// them: tokens of GitHub, GitLab, Hugging Face, AWS (access key ids), Google, Slack,
// OpenAI and Anthropic, npm, PyPI and Docker Hub, signed JSON web tokens, what
// follows Bearer or Basic in a header, private keys in PEM, and the password of a
// URL (the second group; the first is kept). It is made on first use: most
// commands have nothing to hide.
var forms = lazyregexp.New(strings.Join([]string{
	`(\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#:@'"]*:)([^\s/?#'"]+)@`,
	`(\b(?i:bearer|basic)\s+)([A-Za-z0-9._~+/=-]{16,})`,
	`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`,
	`\bgh[pousr]_[A-Za-z0-9]{20,}`,
	`\bgithub_pat_[A-Za-z0-9_]{20,}`,
	`\bglpat-[A-Za-z0-9_-]{20,}`,
	`\bhf_[A-Za-z0-9]{20,}`,
	`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
	`\bAIza[A-Za-z0-9_-]{35}`,
	`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`,
	`\bsk-(?:(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{20,})`,
	`\bnpm_[A-Za-z0-9]{30,}`,
	`\bpypi-[A-Za-z0-9_-]{50,}`,
	`\bdckr_pat_[A-Za-z0-9_-]{20,}`,
	`\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
}, "|"))

// assigned matches a name to which something is given: NAME=, --name= or, as in lists of
// variables, NAME: in upper case. option matches an option and the white space before its
// value. about matches what an error about the value of an option or argument begins with,
// and quoted what such an error quotes.
var (
	assigned = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_.-]*=|[A-Z_][A-Z0-9_]*(?::|":[ \t]*)`)
	option   = lazyregexp.New(`--?[A-Za-z_][A-Za-z0-9_.-]*[ \t]+`)
	about    = lazyregexp.New(`(?:--|^|: |option |argument )([A-Za-z_][A-Za-z0-9_.-]*): `)
	quoted   = lazyregexp.New(`"(?:[^"\\]|\\.)*"`)
)

// Text returns what may be shown of a text: in the place of values that have the
// form of a secret, or are given to a secret name as in NAME=VALUE or --name VALUE,
// stands Hidden.
func (r *Rules) Text(s string) string {
	if strings.ContainsAny(s, "=:") {
		s = r.errorsAbout(r.assignments(s))
	}
	if strings.Contains(s, "-") {
		s = r.options(s)
	}
	if len(s) < 8 { // shorter than any form
		return s
	}
	return replace(s, forms(), func(m []int) string {
		for i := 2; i < len(m); i += 4 {
			if m[i] >= 0 {
				return s[m[i]:m[i+1]] + Hidden + s[m[i+3]:m[1]]
			}
		}
		return Hidden
	})
}

// assignments hides what is given to secret names. What follows the = of a harmless name
// may hold a pair of its own: --env=TOKEN=x.
func (r *Rules) assignments(s string) string {
	return hide(s, assigned(), func(start, end int) int {
		if name, ok := strings.CutSuffix(s[start:end], "="); ok {
			return r.lenIfSecret(name, s[end:], '=')
		}
		return r.lenIfSecret(strings.TrimRight(s[start:end], "\": \t"), s[end:], ':')
	})
}

func (r *Rules) lenIfSecret(name, value string, sep byte) int {
	if !r.Name(name) {
		return 0
	}
	return givenLen(value, sep)
}

// options hides the values of options that are separate words.
func (r *Rules) options(s string) string {
	return hide(s, option(), func(start, end int) int {
		begins := start == 0 || strings.IndexByte(" \t\n\"'=([,;", s[start-1]) >= 0
		if !begins || !r.Name(strings.TrimRight(s[start:end], " \t")) {
			return 0
		}
		return valueLen(s[end:])
	})
}

// hide puts Hidden in the place of what follows matches of re: as many bytes as length
// says of a match.
func hide(s string, re *regexp.Regexp, length func(start, end int) int) string {
	var b strings.Builder
	at := 0
	for _, m := range re.FindAllStringIndex(s, -1) {
		if m[0] < at {
			continue // within what is hidden
		}
		if n := length(m[0], m[1]); n > 0 {
			b.WriteString(s[at:m[1]] + Hidden)
			at = m[1] + n
		}
	}
	if at == 0 {
		return s
	}
	return b.String() + s[at:]
}

// valueLen is how much at the begin of s is the value of the option before it: nothing of
// another option, of a remark in parentheses, or of the words that messages go on with.
func valueLen(s string) int {
	word, _, _ := strings.Cut(s[:min(len(s), 8)], " ")
	switch {
	case s == "", s[0] == '(', isOption(word), word == "needs", word == "is", word == "and", word == "or", word == "cannot":
		return 0
	}
	return givenLen(s, 0)
}

// errorsAbout hides what errors about the value of a secret's option quote.
func (r *Rules) errorsAbout(s string) string {
	for _, m := range about().FindAllStringSubmatchIndex(s, -1) {
		if r.Name(s[m[2]:m[3]]) {
			return s[:m[1]] + quoted().ReplaceAllLiteralString(s[m[1]:], `"`+Hidden+`"`)
		}
	}
	return s
}

// givenLen is how much at the begin of s is given to one name: up to white
// space, the next pair (K=V,K2=V2 with that separator, 0 for none), or a ; or , that ends a
// command or a pair. A quote that is not closed at the begin goes on to the end.
func givenLen(s string, sep byte) int {
	i := 0
	for i < len(s) && strings.IndexByte(" \t\n\f\r`", s[i]) < 0 {
		switch c := s[i]; {
		case c == '"', c == '\'':
			n := quotedLen(s[i:])
			if n == 0 && i == 0 {
				return len(s)
			}
			if n == 0 {
				return i
			}
			i += n
		case i > 0 && sep != 0 && s[0] != '"' && s[0] != '\'' && pairFollows(s[i:], sep):
			return i
		default:
			i++
		}
	}
	return max(min(1, i), len(strings.TrimRight(s[:i], ";,")))
}

// quotedLen is the length of the quoted text at the begin of s, 0 if it is not closed.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return i + 1
		case s[i] == '\\' && s[0] == '"':
			i++
		}
	}
	return 0
}

// pairFollows reports whether s begins with the delimiter and the name of another pair.
func pairFollows(s string, sep byte) bool {
	if strings.IndexByte(",;&", s[0]) < 0 {
		return false
	}
	i := 1
	for i < len(s) && (s[i] == '_' || s[i] == '.' || s[i] == '-' || '0' <= s[i] && s[i] <= '9' || 'a' <= s[i]|0x20 && s[i]|0x20 <= 'z') {
		i++
	}
	return i > 1 && i < len(s) && s[i] == sep
}

func replace(s string, re *regexp.Regexp, with func(m []int) string) string {
	var b strings.Builder
	at := 0
	for _, m := range re.FindAllStringSubmatchIndex(s, -1) {
		b.WriteString(s[at:m[0]] + with(m))
		at = m[1]
	}
	if at == 0 {
		return s
	}
	return b.String() + s[at:]
}

// Args returns what may be shown of a list of arguments.
func (r *Rules) Args(args []string) []string {
	shown := make([]string, len(args))
	follows := false
	for i, a := range args {
		shown[i], follows = r.Arg(a, follows), r.TakesSecret(a)
	}
	return shown
}

// Arg returns what may be shown of one argument: Hidden behind a secret's option, as
// in --password VALUE, else its Text. follows is TakesSecret of the argument before.
func (r *Rules) Arg(arg string, follows bool) string {
	if follows && arg != "" && !isOption(arg) {
		return Hidden
	}
	if name, value, ok := strings.Cut(arg, "="); ok && value != "" && isName(name) && r.Name(name) && !hasPair(value) {
		return name + "=" + Hidden // the value may have spaces
	}
	return r.Text(arg)
}

// hasPair reports whether another pair follows in a value.
func hasPair(value string) bool {
	for i := range value {
		if pairFollows(value[i:], '=') {
			return true
		}
	}
	return false
}

// TakesSecret reports whether arg is an option whose value, a secret, is the next argument.
func (r *Rules) TakesSecret(arg string) bool {
	return isOption(arg) && !strings.ContainsAny(arg, "= \t\n") && r.Name(arg)
}

// isOption holds for -x and --name; a single dash or a negative number is a value.
func isOption(arg string) bool {
	name := strings.TrimLeft(arg, "-")
	return len(name) < len(arg) && name != "" && (name[0] < '0' || name[0] > '9') && len(arg)-len(name) <= 2
}

func isName(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\n\"'") }
