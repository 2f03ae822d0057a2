package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Recorded is what the history knows about how an app was created.
type Recorded struct {
	Ref history.AppKey
	App *spec.App
	Cfg map[string]any // options with a value
	history.Source
	history.Labels
	Checkout *history.Checkout // nil: not known, or no checkout
}

// Evaluated reports whether the app is unchanged from what its component returned. An app
// that was submitted from a file may have been edited.
func (c *Recorded) Evaluated() bool { return c.Component != "" && len(c.Modules) > 0 }

// Recorded returns how an app was created. Errors: backend.ErrNotFound, also for an app
// that only its backend has.
func (r *Runner) Recorded(ctx context.Context, ref history.AppKey) (*Recorded, error) {
	row := r.row(ctx, ref)
	if row == nil || row.Spec == nil {
		return nil, r.unrecorded(ctx, ref)
	}
	c := &Recorded{Ref: ref, Source: row.Source, Labels: row.Labels, Checkout: row.Checkout}
	for _, part := range []struct {
		raw  json.RawMessage
		into any
	}{{row.Spec, &c.App}, {row.Cfg, &c.Cfg}} {
		if len(part.raw) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(part.raw))
		d.UseNumber()
		if err := d.Decode(part.into); err != nil {
			return nil, fmt.Errorf("read the record of app %s: %w", ref.Handle(), err)
		}
	}
	if c.App != nil {
		if err := c.App.CheckLimits(); err != nil {
			return nil, fmt.Errorf("the record of app %s: %w", ref.Handle(), err)
		}
	}
	for key, value := range c.Cfg {
		if value == nil {
			delete(c.Cfg, key)
		}
	}
	return c, nil
}

// unrecorded returns why it is unknown how an app was created.
func (r *Runner) unrecorded(ctx context.Context, ref history.AppKey) error {
	if _, err := r.Status(ctx, ref); err != nil {
		return err
	}
	return notFound("the component and options of app %s are unknown: its backend has the app, but the history does not", ref.Handle())
}
