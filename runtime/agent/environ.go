package agent

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Environ is an environment, "K=V" each. Values may be any bytes: entries that are not
// UTF-8, which JSON cannot hold, are written as base64 in an array, ["…"].
type Environ []string

// MarshalJSON writes an array of strings, and of arrays for entries that are not UTF-8.
func (e Environ) MarshalJSON() ([]byte, error) {
	out := make([]any, len(e))
	for i, kv := range e {
		out[i] = kv
		if !utf8.ValidString(kv) {
			out[i] = [1][]byte{[]byte(kv)}
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Environ) UnmarshalJSON(data []byte) error {
	var entries []json.RawMessage
	if err := json.Unmarshal(data, &entries); err != nil {
		return err
	}
	*e = make(Environ, len(entries))
	for i, raw := range entries {
		var encoded [1][]byte
		if err := json.Unmarshal(raw, &(*e)[i]); err == nil {
			continue
		}
		if err := json.Unmarshal(raw, &encoded); err != nil {
			return fmt.Errorf("environ[%d]: %w", i, err)
		}
		(*e)[i] = string(encoded[0])
	}
	return nil
}
