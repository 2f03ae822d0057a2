package program

import (
	"fmt"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/secrets"
)

// SecretsHelp explains hidden values in the help of a command.
const SecretsHelp = "Values that look like secrets are shown as " + secrets.Hidden + ", unless --show-secrets is given."

// SecretRules returns the built-in rules with those of $TORCHX_SECRETS and of [torchx]
// secrets. They are never nil, so that an unreadable configuration reveals nothing. The
// error names an invalid pattern; the other rules apply.
func (f *Factory) SecretRules() (rules *secrets.Rules, bad error) {
	patterns, bad := f.secretPatterns()
	rules, _ = secrets.New(patterns) // each pattern is valid
	return rules, bad
}

// SecretPatterns returns the valid patterns of $TORCHX_SECRETS and of [torchx] secrets.
func (f *Factory) SecretPatterns() []string {
	patterns, _ := f.secretPatterns()
	return patterns
}

func (f *Factory) secretPatterns() (patterns []string, bad error) {
	origins := map[string]string{"$TORCHX_SECRETS": f.Env.Get("TORCHX_SECRETS")}
	if conf, err := f.Config(); err == nil {
		if v, ok := conf.Get("torchx", "secrets"); ok {
			origins[v.Origin()] = v.Text
		}
	}
	for _, origin := range ui.Keys(origins) {
		for _, p := range backend.SplitCSV(origins[origin]) {
			if _, err := secrets.New([]string{p}); err != nil {
				bad = fmt.Errorf("%s: %w", origin, err)
				continue
			}
			patterns = append(patterns, p)
		}
	}
	return patterns, bad
}
