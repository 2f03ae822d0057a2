// Package secrets tells which names and values look like secrets and hides them
// in what people read. It is about the screen only: nothing that is stored,
// submitted or run is changed.
//
// A name is a secret's when one of its words (parts between `_`, `-`, `.`, or a
// change from lower to upper case; case does not count) is or ends in TOKEN,
// SECRET, PASSWORD, PASSWD, PASSPHRASE or CREDENTIAL, or is WEBHOOK, AUTHORIZATION
// or SSHPASS; or when it has the words API, ACCESS, PRIVATE, SECRET, SIGNING,
// ENCRYPTION, ACCOUNT or MASTER before KEY (or the two as one word); or when it
// begins with AWS_. So HF_TOKEN, WANDB_API_KEY and PGPASSWORD are secrets,
// TOKENIZERS_PARALLELISM, MAX_TOKENS and KEYBOARD are not. TOKENS and PWD count
// behind another word only (ACCESS_TOKENS, MYSQL_PWD). Names that end in FILE, PATH,
// DIR, NAME or REF say where something is, and a few (see harmless) say nothing
// secret. A user's own patterns come on top: `A,B*`, with * for any text.
//
// A value is a secret by its form: see forms.
package secrets

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Hidden is what is shown in place of a secret.
const Hidden = "******"

// Rules decide what a secret is. The zero value knows what this package
// documents; it is safe for use by several goroutines.
type Rules struct{ patterns []pattern }

// New returns the rules with patterns of a user's: names of variables or
// arguments, case does not count, with * for any text. An error names the
// pattern that cannot be used.
func New(patterns []string) (*Rules, error) {
	r := &Rules{}
	for _, text := range patterns {
		p, err := parsePattern(text)
		if err != nil {
			return nil, err
		}
		r.patterns = append(r.patterns, p)
	}
	return r, nil
}

// Name reports whether what is called name is a secret.
func (r *Rules) Name(name string) bool {
	if slices.ContainsFunc(r.patterns, func(p pattern) bool { return p.matches(name) }) {
		return true
	}
	words := wordsOf(name)
	if len(words) == 0 || harmless[strings.Join(words, "_")] || places[words[len(words)-1]] {
		return false
	}
	return words[0] == "AWS" && len(words) > 1 || secretWords(words)
}

// Value returns what may be shown of the value called name.
func (r *Rules) Value(name, value string) string {
	if value != "" && r.Name(name) {
		return Hidden
	}
	return r.Text(value)
}

// harmless are names that a rule would catch and that hold no secret; those of
// images name an object of Kubernetes.
var harmless = set("IMAGE_SECRET", "IMAGE_PULL_SECRETS", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
	"AWS_DEFAULT_OUTPUT", "AWS_PAGER", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE", "AWS_ENDPOINT_URL", "AWS_EC2_METADATA_DISABLED")

// places are last words of names that say where a secret is, not what.
var places = set("FILE", "PATH", "DIR", "NAME", "REF")

// whole are words that alone make a name a secret's.
var whole = set("WEBHOOK", "AUTHORIZATION", "SSHPASS", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE")

// endings of a word do too; the words are often written as one (PGPASSWORD).
// TOKENS is missing: those are counted, not kept.
var endings = []string{
	"TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE",
	"CREDENTIAL", "CREDENTIALS", "APIKEY", "APIKEYS", "ACCESSKEY", "PRIVATEKEY", "SECRETKEY",
}

// pairs are second words and the first words that make a secret of them.
var (
	keyOwners   = set("API", "ACCESS", "PRIVATE", "SECRET", "SIGNING", "ENCRYPTION", "ACCOUNT", "MASTER")
	tokenOwners = set("API", "AUTH", "ACCESS", "REFRESH", "BEARER")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

func secretWords(words []string) bool {
	for i, w := range words {
		if whole[w] || hasEnding(w) {
			return true
		}
		if i == 0 {
			continue // below are second words; PWD alone and OLDPWD are folders
		}
		before := words[i-1]
		if (w == "KEY" || w == "KEYS") && keyOwners[before] || w == "TOKENS" && tokenOwners[before] || w == "PWD" {
			return true
		}
	}
	return false
}

func hasEnding(word string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(word, e) })
}

// wordsOf splits a name into its words, in upper case.
func wordsOf(name string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	lower := false
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if lower && unicode.IsUpper(r) {
			end()
		}
		lower = unicode.IsLower(r)
		word.WriteRune(unicode.ToUpper(r))
	}
	end()
	return words
}

// pattern is a name of a user's in upper case, split at its stars.
type pattern []string

func parsePattern(text string) (pattern, error) {
	if strings.Trim(text, "*") == "" || strings.ContainsFunc(text, badInName) {
		return nil, fmt.Errorf("invalid pattern %q of secrets: write names with * for any text, as in MY_KEY or CORP_*", text)
	}
	return strings.Split(strings.ToUpper(text), "*"), nil
}

func badInName(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '=' }

func (p pattern) matches(name string) bool {
	name = strings.ToUpper(name)
	rest, ok := strings.CutPrefix(name, p[0])
	if !ok || len(p) == 1 {
		return ok && rest == ""
	}
	last := len(p) - 1
	for _, part := range p[1:last] {
		_, after, found := strings.Cut(rest, part)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, p[last])
}
