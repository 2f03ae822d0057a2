// Package secrets recognizes secrets by names and values, and hides them in output for users.
// It affects only what is shown: nothing that is stored, submitted or run is changed.
//
// A name is secret in three cases. One of its words (parts between `_`, `-`, `.`, or a change
// from lower to upper case; case is ignored) is or ends in TOKEN, SECRET, PASSWORD, PASSWD,
// PASSPHRASE or CREDENTIAL, or is WEBHOOK, AUTHORIZATION, SSHPASS, PW, PAT, BEARER, COOKIE, DSN or
// CONNSTR (also CONN_STR and CONNECTION_STRING). Or API, ACCESS, PRIVATE,
// SECRET, SIGNING, ENCRYPTION, ACCOUNT or MASTER comes before KEY (or both are one word). Or it
// starts with AWS_. So HF_TOKEN, WANDB_API_KEY and PGPASSWORD are secret, but
// TOKENIZERS_PARALLELISM, MAX_TOKENS and KEYBOARD are not. TOKENS and PWD count only after
// another word (ACCESS_TOKENS, MYSQL_PWD). Names that end in FILE, PATH, DIR, NAME or REF
// contain locations, and a few (see harmlessNames) contain no secrets. Users can add patterns:
// `A,B*`, with * for any text.
//
// A value is secret by its format: see forms.
package secrets

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Hidden is shown instead of a secret.
const Hidden = "******"

// Rules determine what is secret. The zero value has the rules in the package documentation. It
// is safe for concurrent use.
type Rules struct {
	patterns  []namePattern
	variables map[string]bool // names of secret environment variables, exactly
}

// New returns rules with a user's patterns: names of variables or arguments, ignoring case, with
// * for any text. The error names the invalid pattern.
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

// WithVariables returns rules that also hide the values of the environment variables with these
// names, wherever variables are shown: NAME=VALUE, in objects and lists called env, and as value
// next to name.
func (r *Rules) WithVariables(names []string) *Rules {
	c := &Rules{patterns: r.patterns, variables: maps.Clone(r.variables)}
	if c.variables == nil {
		c.variables = map[string]bool{}
	}
	for _, name := range names {
		c.variables[name] = true
	}
	return c
}

// Name reports whether the value of a name is secret.
func (r *Rules) Name(name string) bool {
	if slices.ContainsFunc(r.patterns, func(p namePattern) bool { return p.matches(name) }) {
		return true
	}
	words := wordsOf(name)
	if len(words) == 1 && words[0] == "PWD" { // an option or argument; the shell's variable is a folder
		return name != "PWD"
	}
	if len(words) == 0 || harmlessNames[strings.Join(words, "_")] ||
		locationWords[words[len(words)-1]] {
		return false
	}
	return words[0] == "AWS" && len(words) > 1 || secretWords(words)
}

// Value returns the value of a name, with secrets hidden.
func (r *Rules) Value(name, value string) string {
	if value != "" && r.Name(name) {
		return Hidden
	}
	return r.Text(value)
}

// harmlessNames are names without secrets that match a rule; the image secrets name Kubernetes
// objects.
var harmlessNames = set("IMAGE_SECRET", "IMAGE_PULL_SECRETS", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_DEFAULT_PROFILE",
	"AWS_DEFAULT_OUTPUT", "AWS_PAGER", "AWS_MAX_ATTEMPTS", "AWS_RETRY_MODE", "AWS_ENDPOINT_URL", "AWS_EC2_METADATA_DISABLED")

// locationWords are last words of names that contain a location instead of a secret.
var locationWords = set("FILE", "PATH", "DIR", "NAME", "REF")

// completeWords make a name secret as a complete word.
var completeWords = set("WEBHOOK", "AUTHORIZATION", "SSHPASS", "TOKEN", "PASSWORD", "PASSWD", "PASSPHRASE",
	"PW", "PAT", "BEARER", "COOKIE", "COOKIES", "DSN", "CONNSTR", "CONNECTIONSTRING")

// endings make a name secret at the end of a word, since words are often joined (PGPASSWORD).
// TOKENS is missing: tokens are usually counted.
var endings = []string{
	"TOKEN", "SECRET", "SECRETS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE",
	"CREDENTIAL", "CREDENTIALS", "APIKEY", "APIKEYS", "ACCESSKEY", "PRIVATEKEY", "SECRETKEY",
}

// keyOwners and tokenOwners make a name secret before KEY and TOKENS.
var (
	keyOwners = set("API", "ACCESS", "PRIVATE", "SECRET", "SIGNING", "ENCRYPTION",
		"ACCOUNT", "MASTER")
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
		if completeWords[w] || hasEnding(w) {
			return true
		}
		if i == 0 {
			continue // the checks below are for second words; PWD alone and OLDPWD are folders
		}
		before := words[i-1]
		if (w == "KEY" || w == "KEYS") && keyOwners[before] || w == "TOKENS" &&
			tokenOwners[before] || w == "PWD" ||
			w == "STR" && before == "CONN" || w == "STRING" && before == "CONNECTION" {
			return true
		}
	}
	return false
}

func hasEnding(word string) bool {
	return slices.ContainsFunc(endings, func(e string) bool { return strings.HasSuffix(word, e) })
}

// wordsOf splits a name into words, in upper case.
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

// namePattern is a user's name pattern in upper case, split at its stars.
type namePattern []string

func parsePattern(text string) (namePattern, error) {
	if strings.Trim(text, "*") == "" || strings.ContainsFunc(text, badInName) {
		return nil, fmt.Errorf("invalid pattern %q of secrets: use names with * for any text, such as MY_KEY or CORP_*", text)
	}
	return strings.Split(strings.ToUpper(text), "*"), nil
}

func badInName(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == '=' }

func (p namePattern) matches(name string) bool {
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
