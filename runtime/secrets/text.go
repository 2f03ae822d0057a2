package secrets

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"torchx/runtime/pattern"
)

// forms matches secrets by their format, as documented by their issuers: tokens of GitHub,
// GitLab, Hugging Face, AWS (access key IDs), Google, Slack, OpenAI and Anthropic, npm, PyPI and
// Docker Hub, signed JSON web tokens, text after Bearer or Basic in a header, private keys in
// PEM, the path of a webhook's URL and the password of a URL (the second group; the first is
// kept). It is compiled on first use: most commands have nothing to hide.
var forms = pattern.Lazy(strings.Join([]string{
	`(\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#:@'"]*:)([^\s/?#'"]+)@`,
	`(\bhttps?://(?:hooks\.[^\s/'"]+|[^\s/'"]*webhook[^\s/'"]*)/)([^\s'"]+)`,
	`(\bhttps?://[^\s'"]*/(?:web)?hooks?/)([^\s'"]+)`,
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

// marks are in each text that forms match, but for headers.
var marks = []string{
	"://", "PRIVATE KEY", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "dckr_pat_", "hf_", "npm_",
	"glpat-", "AKIA", "ASIA", "AIza", "xox", "sk-", "pypi-", "eyJ",
}

// headers are before white space in the headers that forms match, in any case.
var headers = []string{"bearer", "basic"}

// mayHaveForm reports whether forms may match. They take a microsecond for each 30 bytes, and most
// texts are times, states, numbers and lines of a log.
func mayHaveForm(s string) bool {
	has := func(text string) func(string) bool { return func(m string) bool { return strings.Contains(text, m) } }
	return slices.ContainsFunc(marks, has(s)) ||
		strings.ContainsAny(s, " \t\n\f\r") && slices.ContainsFunc(headers, has(strings.ToLower(s)))
}

// quoted matches quoted text in errors.
var quoted = pattern.Lazy(`"(?:[^"\\]|\\.)*"`)

// Text returns a text with secrets hidden: values in the format of a secret, and values of secret
// names as in NAME=VALUE or --name VALUE.
func (r *Rules) Text(s string) string {
	if strings.ContainsAny(s, "=:") {
		s = r.errorsAbout(r.assignments(s))
	}
	if strings.Contains(s, "-") {
		s = r.options(s)
	}
	if len(s) < 8 || !mayHaveForm(s) { // shorter than all forms
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

// assignments hides the values of secret names. The value of a harmless name may itself contain
// a pair: --env=TOKEN=x.
func (r *Rules) assignments(s string) string {
	return hide(s, assigned(s), func(start, end int) int {
		if name, ok := strings.CutSuffix(s[start:end], "="); ok {
			if r.variables[name] {
				return givenLen(s[end:], '=')
			}
			return r.lenIfSecret(name, s[end:], '=')
		}
		return r.lenIfSecret(strings.TrimRight(s[start:end], "\": \t"), s[end:], ':')
	})
}

// assigned yields the start of each name with a value and the start of the value: NAME=, --name=
// or, as in lists of variables, NAME: in upper case, also quoted. It avoids regular expressions,
// which take microseconds per byte here.
func assigned(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; ; at++ {
			n := strings.IndexAny(s[at:], "=:")
			if n < 0 {
				return
			}
			at += n
			start, end := nameBefore(s, at, nameByte), at+1
			if s[at] == ':' {
				before := strings.TrimSuffix(s[:at], `"`)
				start = nameBefore(s, len(before), upperByte)
				if len(before) < at {
					end += len(s[end:]) - len(strings.TrimLeft(s[end:], " \t"))
				}
				if start == len(before) {
					continue
				}
			}
			if start < at && !yield(start, end) {
				return
			}
		}
	}
}

// nameBefore returns the start of the name that ends at end; end if there is none.
func nameBefore(s string, end int, is func(byte) bool) int {
	start := end
	for start > 0 && is(s[start-1]) {
		start--
	}
	for start < end && !letterByte(s[start]) {
		start++
	}
	return start
}

func letterByte(c byte) bool { return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }

func nameByte(c byte) bool { return letterByte(c) || c == '.' || c == '-' || '0' <= c && c <= '9' }

func upperByte(c byte) bool { return c == '_' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' }

func (r *Rules) lenIfSecret(name, value string, sep byte) int {
	if !r.Name(name) {
		return 0
	}
	return givenLen(value, sep)
}

// options hides the values of options in the following word.
func (r *Rules) options(s string) string {
	return hide(s, options(s), func(start, end int) int {
		if !r.Name(strings.TrimRight(s[start:end], " \t")) {
			return 0
		}
		return valueLen(s[end:])
	})
}

// options yields the start of each option, -x or --name, and of its value after white space.
func options(s string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		for at := 0; ; {
			n := strings.IndexByte(s[at:], '-')
			if n < 0 {
				return
			}
			at += n
			start := at
			for at < len(s) && nameByte(s[at]) {
				at++
			}
			end := len(s) - len(strings.TrimLeft(s[at:], " \t"))
			begins := start == 0 || strings.IndexByte(" \t\n\"'=([,;", s[start-1]) >= 0
			if begins && end > at && isOption(s[start:at]) && !yield(start, end) {
				return
			}
		}
	}
}

// hide replaces the text after each match with Hidden. A match is a name from start to end;
// length returns how many bytes follow to be replaced.
func hide(s string, matches iter.Seq2[int, int], length func(start, end int) int) string {
	var b strings.Builder
	at := 0
	for start, end := range matches {
		if start < at {
			continue // in hidden text
		}
		if n := length(start, end); n > 0 {
			b.WriteString(s[at:end] + Hidden)
			at = end + n
		}
	}
	if at == 0 {
		return s
	}
	return b.String() + s[at:]
}

// valueLen returns the length of an option's value at the start of s; 0 for another option, a
// remark in parentheses, or words with which messages continue.
func valueLen(s string) int {
	word, _, _ := strings.Cut(s[:min(len(s), 8)], " ")
	switch {
	case s == "", s[0] == '(', isOption(word), word == "needs", word == "is", word == "and", word == "or", word == "cannot":
		return 0
	}
	return givenLen(s, 0)
}

// errorsAbout hides quoted text in errors about the value of a secret option, which start with
// its name and a colon.
func (r *Rules) errorsAbout(s string) string {
	for at := 0; ; at++ {
		n := strings.Index(s[at:], ": ")
		if n < 0 {
			return s
		}
		at += n
		start := nameBefore(s, at, nameByte)
		before := s[:start]
		if start < at && (start == 0 || hasOneSuffix(before, "--", ": ", "option ", "argument ")) &&
			r.Name(s[start:at]) {
			return s[:at] + quoted().ReplaceAllLiteralString(s[at:], `"`+Hidden+`"`)
		}
	}
}

func hasOneSuffix(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(end string) bool { return strings.HasSuffix(s, end) })
}

// givenLen returns the length of a name's value at the start of s. It ends at white space, at
// the next pair (K=V,K2=V2 with that separator, 0 for none), or at a ; or , that ends a command
// or a pair. An unclosed quote at the start extends to the end.
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

// quotedLen returns the length of the quoted text at the start of s, 0 if it is not closed.
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

// pairFollows reports whether s starts with a delimiter and the name of another pair.
func pairFollows(s string, sep byte) bool {
	if strings.IndexByte(",;&", s[0]) < 0 {
		return false
	}
	i := 1
	for i < len(s) && nameByte(s[i]) {
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

// Args returns a list of arguments with secrets hidden.
func (r *Rules) Args(args []string) []string {
	shown := make([]string, len(args))
	follows := false
	for i, a := range args {
		shown[i], follows = r.Arg(a, follows), r.TakesSecret(a)
	}
	return shown
}

// Arg returns an argument with secrets hidden: Hidden after a secret option, as in --password
// VALUE, else its Text. follows is TakesSecret of the previous argument.
func (r *Rules) Arg(arg string, follows bool) string {
	if follows && arg != "" && !isOption(arg) {
		return Hidden
	}
	if name, value, ok := strings.Cut(arg, "="); ok && value != "" && isName(name) &&
		r.Name(name) && !hasPair(value) {
		return name + "=" + Hidden // the value may have spaces
	}
	return r.Text(arg)
}

// hasPair reports whether a value contains another pair.
func hasPair(value string) bool {
	for i := range value {
		if pairFollows(value[i:], '=') {
			return true
		}
	}
	return false
}

// TakesSecret reports whether arg is an option whose secret value is the next argument.
func (r *Rules) TakesSecret(arg string) bool {
	return isOption(arg) && !strings.ContainsAny(arg, "= \t\n") && r.Name(arg)
}

// isOption reports whether arg is an option, -x or --name; a single dash or a negative number is
// a value.
func isOption(arg string) bool {
	name := strings.TrimLeft(arg, "-")
	return len(name) < len(arg) && name != "" && (name[0] < '0' || name[0] > '9') &&
		len(arg)-len(name) <= 2
}

func isName(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\n\"'") }
