package runner

import (
	"context"
	"errors"

	"torchx/runtime/history"
	"torchx/runtime/spec"
)

// Imported is an app from another home, for the history.
type Imported struct {
	Row    history.App
	Status *spec.Status
	Events []history.Event // that its backend recorded
	Diff   []byte          // of Row.Checkout, by gzip; nil: none
}

// Import records an app whose files are in place, and replaces an earlier record of it.
func (r *Runner) Import(ctx context.Context, a Imported) error {
	if r.History == nil {
		return errors.New("there is no history to import into")
	}
	ref := a.Row.AppKey
	if err := r.History.Delete(ctx, ref.Backend, ref.ID); err != nil && !errors.Is(err, history.ErrNotFound) {
		return err
	}
	if err := r.History.Insert(ctx, a.Row); err != nil {
		return err
	}
	err := r.History.SetStatus(ctx, ref.Backend, ref.ID, a.Status)
	if err == nil {
		err = r.History.AddEvents(ctx, ref.Backend, ref.ID, a.Events)
	}
	if err == nil && a.Row.Checkout != nil {
		err = r.History.SetCheckout(ctx, ref.Backend, ref.ID, *a.Row.Checkout, a.Diff)
	}
	r.recordMetrics(ctx, ref)
	return err
}

// BackendEvents returns what the system of the backend recorded of an app with status s, none if it
// cannot be read.
func (r *Runner) BackendEvents(
	ctx context.Context, ref history.AppKey, s *spec.Status,
) (events []history.Event) {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err != nil || can.Events == nil {
		return nil
	}
	list, err := can.Events.Events(ctx, ref.ID)
	if err != nil {
		return nil
	}
	for _, e := range list {
		event := history.Event{Time: e.Time, Kind: history.EventBackend, State: s.State, Attempt: e.Attempt, Msg: e.Msg}
		if e.Replica != nil {
			event.Role, event.Replica = e.Replica.Role, e.Replica.ID
		}
		events = append(events, event)
	}
	return events
}
