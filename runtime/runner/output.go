package runner

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/backend"
	"torchx/runtime/history"
)

// Output returns where the outputs of an app are. Errors: those of Status, or
// backend.ErrNotFound if the app has no outputs.
func (r *Runner) Output(ctx context.Context, ref history.AppKey) (*backend.Output, error) {
	b, err := r.Backends.Get(ref.Backend)
	if err != nil {
		return nil, err
	}
	if r.IsSweep(ref) {
		return nil, notFound("%s has no outputs of its own: those of a trial are with its app (`torchx status %s` lists them)", ref.Handle(), ref.ID)
	}
	finder := b.Capabilities().Output
	if finder == nil {
		return nil, notFound("apps of %s have no output folder", ref.Backend)
	}
	out, err := finder.OutputOf(ctx, ref.ID)
	if err == nil {
		return out, nil
	}
	if errors.Is(err, backend.ErrNotFound) {
		s, statusErr := r.Status(ctx, ref)
		if statusErr != nil {
			return nil, statusErr
		}
		if gone := r.missingOutput(ctx, b, ref, s.State.Terminal()); gone != nil {
			return nil, gone
		}
	}
	return nil, fmt.Errorf("find the outputs of %s: %w", ref.Handle(), err)
}

// missingOutput returns an error if only the history has the app.
func (r *Runner) missingOutput(
	ctx context.Context, b backend.Backend, ref history.AppKey, ended bool,
) error {
	if !ended || !isGone(ctx, b, ref) {
		return nil
	}
	return notFound("the outputs of app %s are gone: its backend no longer has the app", ref.Handle())
}
