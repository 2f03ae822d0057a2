package apps

import (
	"context"
	"maps"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/secrets"
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

// changeLabels changes labels. New texts may be edited copies of those shown: secrets that are
// hidden there stay as they are.
func changeLabels(ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref,
	c history.LabelChange,
) (history.Labels, error) {
	if !hasHidden(c) {
		return r.SetLabels(ctx, ref, c)
	}
	old, err := r.Labels(ctx, ref)
	if err != nil {
		return old, err
	}
	mask := labelMasker(f)
	c.Set = maps.Clone(c.Set)
	for key, value := range c.Set {
		c.Set[key], err = secrets.Restore(old.Tags[key], value, func(text string) string {
			return mask(history.Labels{Tags: map[string]string{key: text}}).Tags[key]
		})
		if err != nil {
			return old, program.Usagef("tag", "%s: %v", key, err)
		}
	}
	if c.Note != nil {
		note, err := secrets.Restore(old.Note, *c.Note, func(text string) string { return mask(history.Labels{Note: text}).Note })
		if err != nil {
			return old, program.Usagef("note", "%v", err)
		}
		if err := history.CheckNote(note); err != nil {
			return old, program.Usagef("note", "%v", err)
		}
		c.Note = &note
	}
	return r.SetLabels(ctx, ref, c)
}

func hasHidden(c history.LabelChange) bool {
	for _, value := range c.Set {
		if strings.Contains(value, secrets.Hidden) {
			return true
		}
	}
	return c.Note != nil && strings.Contains(*c.Note, secrets.Hidden)
}
