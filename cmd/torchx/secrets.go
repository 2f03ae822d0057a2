package main

import (
	"encoding/json"
	"fmt"
	"sync"

	"torchx/runtime/backend"
	"torchx/runtime/secrets"
)

// secretsHelp says in the help of a command what is hidden.
const secretsHelp = "Values that look like secrets are shown as " + secrets.Hidden + " unless --show-secrets is given."

// masking hides secrets in what is shown; its rules are read on first use.
type masking struct {
	off   bool // --show-secrets
	once  sync.Once
	rules *secrets.Rules
	err   error // a pattern of the user's cannot be used; the other rules hold
}

// secretRules are those of the program, of $TORCHX_SECRETS and of [torchx]
// secrets. They are never nil: a configuration that cannot be read must not
// show what would be hidden otherwise.
func (t *tool) secretRules() (*secrets.Rules, error) {
	m := &t.masking
	m.once.Do(func() {
		origins := map[string]string{"$TORCHX_SECRETS": t.env.get("TORCHX_SECRETS")}
		if conf, err := t.config(); err == nil {
			if v, ok := conf.Get("torchx", "secrets"); ok {
				origins[v.Origin()] = v.Text
			}
		}
		var patterns []string
		for _, origin := range keys(origins) {
			for _, p := range backend.SplitCSV(origins[origin]) {
				if _, err := secrets.New([]string{p}); err != nil {
					m.err = fmt.Errorf("%s: %w", origin, err)
					continue
				}
				patterns = append(patterns, p)
			}
		}
		m.rules, _ = secrets.New(patterns) // each is known to be good
	})
	return m.rules, m.err
}

// masked is text with what looks like a secret hidden.
func (t *tool) masked(text string) string {
	if t.masking.off {
		return text
	}
	r, _ := t.secretRules() // commands that show values report a bad pattern
	return r.Text(text)
}

// maskedJSON is the JSON form of v with what looks like a secret hidden.
func (t *tool) maskedJSON(v any) (json.RawMessage, error) {
	data, err := encodeJSON(v)
	if err != nil || t.masking.off {
		return data, err
	}
	r, err := t.secretRules()
	if err != nil {
		return nil, err
	}
	return r.JSON(data)
}

// maskedYAML is yamlText with what looks like a secret hidden.
func (t *tool) maskedYAML(v any) (string, error) {
	data, err := t.maskedJSON(v)
	if err != nil {
		return "", err
	}
	return yamlText(data)
}

// printMaskedJSON is printJSON with what looks like a secret hidden.
func (t *tool) printMaskedJSON(v any) error {
	data, err := t.maskedJSON(v)
	if err != nil {
		return err
	}
	return t.printJSON(data)
}
