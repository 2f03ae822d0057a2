package runner

import (
	"context"
	"maps"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// SetLabels changes the tags and the note of a recorded app, and returns them. Errors:
// backend.ErrNotFound.
func (r *Runner) SetLabels(ctx context.Context, ref history.AppKey, c history.LabelChange) (history.Labels, error) {
	row := r.row(ctx, ref)
	if row == nil {
		return history.Labels{}, r.unrecorded(ctx, ref)
	}
	tags := maps.Clone(row.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	maps.Copy(tags, c.Set)
	for _, key := range c.Remove {
		delete(tags, key)
	}
	if err := history.CheckTags(tags); err != nil {
		return history.Labels{}, err
	}
	return r.History.SetLabels(ctx, ref.Backend, ref.ID, c)
}

// Labels returns the tags and the note of a recorded app. Errors: backend.ErrNotFound.
func (r *Runner) Labels(ctx context.Context, ref history.AppKey) (history.Labels, error) {
	row := r.row(ctx, ref)
	if row == nil {
		return history.Labels{}, r.unrecorded(ctx, ref)
	}
	return row.Labels, nil
}

// inheritTags adds the tags of the parent run, if the history has it, that p does not set.
func (r *Runner) inheritTags(ctx context.Context, p *Planned) {
	parent := p.Source.ParentRunID
	if parent == "" {
		return
	}
	ref := history.AppKey{ID: parent}
	if h, err := spec.ParseHandle(parent); err == nil {
		ref = history.AppKey{Backend: h.Backend, ID: h.AppID}
	}
	apps, err := r.History.FindPrefix(ctx, ref.ID)
	if err != nil {
		return // tags of a parent are a convenience: the run must not fail for them
	}
	for i := range apps {
		if apps[i].ID != ref.ID || ref.Backend != "" && apps[i].Backend != ref.Backend {
			continue
		}
		tags := maps.Clone(apps[i].Tags)
		maps.Copy(tags, p.Tags)
		if len(tags) > 0 {
			p.Tags = tags
		}
		return
	}
}
