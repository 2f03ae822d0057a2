package program

import (
	"context"
	"errors"
	"fmt"

	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/sweep"
)

// TrialApps are the apps of a sweep's trials.
type TrialApps struct {
	*sweep.Snapshot
	Refs   []runner.Ref       // the best first, as far as there is a metric
	Trials map[runner.Ref]int // their numbers
	All    int                // trials that have an app
}

// TrialAppsOf returns the apps of at most limit trials of a sweep that the history has; 0: all.
// It is an error if there are none.
func TrialAppsOf(
	ctx context.Context, r *runner.Runner, ref runner.Ref, limit int,
) (*TrialApps, error) {
	s, err := r.Trials(ctx, ref)
	if err != nil {
		return nil, err
	}
	a := &TrialApps{Snapshot: s, Trials: map[runner.Ref]int{}}
	for _, i := range sweep.Ranked(s) {
		app := s.Trials[i].App
		if app.ID == "" {
			continue
		}
		if a.All++; limit > 0 && len(a.Refs) >= limit {
			continue
		}
		if r.History != nil {
			if _, err := r.History.Get(ctx, app.Backend, app.ID); errors.Is(err, history.ErrNotFound) {
				a.All-- // it was deleted
				continue
			}
		}
		a.Refs = append(a.Refs, app)
		a.Trials[app] = s.Trials[i].Number
	}
	if len(a.Refs) == 0 {
		return nil, fmt.Errorf("no trial of %s has an app: none has started, or they were deleted", ref.Handle())
	}
	return a, nil
}
