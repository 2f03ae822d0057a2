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
	`(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@'"]*:)([^\s/?#'"]+)@`,
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

// assigned matches a name to which something is given, NAME= or --name=, and
// given what it is given.
var (
	assigned = lazyregexp.New(`[A-Za-z_][A-Za-z0-9_.-]*=`)
	given    = lazyregexp.New(`^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s'"` + "`" + `])+`)
)

// nextPair matches the begin of the next one in K=V,K2=V2.
var nextPair = lazyregexp.New(`[,;&][A-Za-z_][A-Za-z0-9_.-]*=`)

// Text returns what may be shown of a text: in the place of values that have the
// form of a secret, or are given to a secret name as in NAME=VALUE, stands Hidden.
func (r *Rules) Text(s string) string {
	if strings.Contains(s, "=") {
		s = r.assignments(s)
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

func (r *Rules) assignments(s string) string {
	var b strings.Builder
	for {
		m := assigned().FindStringIndex(s)
		if m == nil {
			return b.String() + s
		}
		// What follows the = of a harmless name may hold a pair of its own: --env=TOKEN=x.
		b.WriteString(s[:m[1]])
		name := s[m[0] : m[1]-1]
		s = s[m[1]:]
		if !r.Name(name) {
			continue
		}
		if n := givenLen(s); n > 0 {
			b.WriteString(Hidden)
			s = s[n:]
		}
	}
}

// givenLen is how much at the begin of s is given to one name: up to white
// space, the next pair, or a ; or , that ends a command or a pair.
func givenLen(s string) int {
	value := given().FindString(s)
	if value == "" {
		return 0
	}
	if next := nextPair().FindStringIndex(value); next != nil && !strings.ContainsAny(value[:1], `"'`) {
		return next[0]
	}
	return max(1, len(strings.TrimRight(value, ";,")))
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

// Arg returns what may be shown of one argument: Hidden behind a secret's option, as
// in --password VALUE, else its Text. follows is TakesSecret of the argument before.
func (r *Rules) Arg(arg string, follows bool) string {
	if follows && arg != "" && !isOption(arg) {
		return Hidden
	}
	if name, value, ok := strings.Cut(arg, "="); ok && value != "" && isName(name) && r.Name(name) && nextPair().FindStringIndex(value) == nil {
		return name + "=" + Hidden // the value may have spaces
	}
	return r.Text(arg)
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
