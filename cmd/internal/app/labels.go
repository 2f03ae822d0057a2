package app

import (
	"torchx/cmd/internal/program"
	"torchx/runtime/history"
)

// labelMasker returns a function that hides secrets in labels, as the JSON of tag does.
func labelMasker(f *program.Factory) func(history.Labels) history.Labels {
	if f.ShowSecrets {
		return func(l history.Labels) history.Labels { return l }
	}
	rules, _ := f.Rules() // as for Masked
	return func(l history.Labels) history.Labels {
		tags := make(map[string]string, len(l.Tags))
		for key, value := range l.Tags {
			tags[key] = rules.Value(key, value)
		}
		return history.Labels{Tags: tags, Note: rules.Text(l.Note)}
	}
}
