package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Recorded is what the history knows of how an app came about.
type Recorded struct {
	Ref history.AppKey
	App *spec.App
	Cfg map[string]any // the options that had a value
	history.Source
}

// Evaluated reports whether the app is what its component returned: one that was
// submitted from a file may have been edited.
func (c *Recorded) Evaluated() bool { return c.Component != "" && len(c.Modules) > 0 }

// Recorded returns what an app was made from. Errors: backends.ErrNotFound, also
// for an app that only its backend knows.
func (r *Runner) Recorded(ctx context.Context, ref history.AppKey) (*Recorded, error) {
	row := r.row(ctx, ref)
	if row == nil || row.App == nil {
		return nil, r.unrecorded(ctx, ref)
	}
	c := &Recorded{Ref: ref, Source: row.Source}
	for _, part := range []struct {
		raw  json.RawMessage
		into any
	}{{row.App, &c.App}, {row.Cfg, &c.Cfg}} {
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

// unrecorded says why it is not known what an app was made from.
func (r *Runner) unrecorded(ctx context.Context, ref history.AppKey) error {
	if _, err := r.Status(ctx, ref); err != nil {
		return err
	}
	return notFound("what app %s was made from is not known: its backend knows the app, the history does not", ref.Handle())
}
