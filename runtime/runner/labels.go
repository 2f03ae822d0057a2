package runner

import (
	"context"
	"maps"
	"slices"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// SetLabels changes the tags and the note of a recorded app, and returns them. Errors:
// backend.ErrNotFound.
func (r *Runner) SetLabels(
	ctx context.Context, ref history.AppKey, c history.LabelChange,
) (history.Labels, error) {
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

// inheritTags adds the tags of the parent run that p does not set, then the default ones. Too many
// are left out, in the order of their keys: a run must not fail for them.
func (r *Runner) inheritTags(ctx context.Context, p *Planned) {
	tags := maps.Clone(p.DefaultTags)
	if tags == nil {
		tags = map[string]string{}
	}
	if p.ParentRunID != "" && r.History != nil {
		maps.Copy(tags, r.parentTags(ctx, p.ParentRunID))
	}
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if len(tags)+len(p.Tags) <= history.MaxTags {
			break
		}
		delete(tags, key)
	}
	if maps.Copy(tags, p.Tags); len(tags) > 0 {
		p.Tags = tags
	}
}

// parentTags returns the tags of a parent run, nil if the history does not have it.
func (r *Runner) parentTags(ctx context.Context, parent string) map[string]string {
	ref := history.AppKey{ID: parent}
	if h, err := spec.ParseHandle(parent); err == nil {
		ref = history.AppKey{Backend: h.Backend, ID: h.AppID}
	}
	apps, err := r.History.FindPrefix(ctx, ref.ID)
	if err != nil {
		return nil // the parent may be unknown here, too
	}
	for i := range apps {
		if apps[i].ID == ref.ID && (ref.Backend == "" || apps[i].Backend == ref.Backend) {
			return apps[i].Tags
		}
	}
	return nil
}
