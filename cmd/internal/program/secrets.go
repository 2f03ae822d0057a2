package program

import (
	"fmt"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/secrets"
)

// SecretsHelp says in the help of a command what is hidden.
const SecretsHelp = "Values that look like secrets are shown as " + secrets.Hidden + ", unless --show-secrets is given."

// SecretRules are those of the program, of $TORCHX_SECRETS and of [torchx]
// secrets. They are never nil: a configuration that cannot be read must not
// show what would be hidden otherwise. The error names a pattern of the user's
// that cannot be used; the other rules hold.
func (f *Factory) SecretRules() (rules *secrets.Rules, bad error) {
	origins := map[string]string{"$TORCHX_SECRETS": f.Env.Get("TORCHX_SECRETS")}
	if conf, err := f.Config(); err == nil {
		if v, ok := conf.Get("torchx", "secrets"); ok {
			origins[v.Origin()] = v.Text
		}
	}
	var patterns []string
	for _, origin := range ui.Keys(origins) {
		for _, p := range backend.SplitCSV(origins[origin]) {
			if _, err := secrets.New([]string{p}); err != nil {
				bad = fmt.Errorf("%s: %w", origin, err)
				continue
			}
			patterns = append(patterns, p)
		}
	}
	rules, _ = secrets.New(patterns) // each is known to be good
	return rules, bad
}
