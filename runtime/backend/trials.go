package backend

import (
	"context"
	"iter"

	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// TrialRunner is for a backend whose apps are sweeps: each runs other apps as its trials, on the
// backend that its definition names. Replica k of its only role is trial k. Its Plan needs
// PlanInput.Sweep.
type TrialRunner interface {
	// Trials returns how a sweep stands, with all trials in order. Errors: ErrNotFound.
	Trials(ctx context.Context, id string) (*sweep.Snapshot, error)
	// SweepOf returns what was submitted. Trials are read while the sequence is. Errors:
	// ErrNotFound.
	SweepOf(ctx context.Context, id string) (*sweep.Definition, iter.Seq2[*sweep.Trial, error], error)
	// Extend adds trials to a sweep that has ended and starts its supervisor again. Errors:
	// ErrNotFound, *StartError.
	Extend(ctx context.Context, id string, e sweep.Extension) error
}

// CapacityFinder knows how many apps fit.
type CapacityFinder interface {
	// CapacityFor returns how many apps like this one can run at the same time on all that the
	// backend has. Errors: ErrUnavailable.
	CapacityFor(ctx context.Context, app *spec.App, cfg Config) (*Capacity, error)
}

// Capacity is how many apps of one kind fit, and how to start them so that they share nothing that
// must not be shared.
type Capacity struct {
	Apps  int   // at least 1
	Cfg   Layer // options to add, such as exclusive devices
	Queue bool  // start them with Launch.Queue
}
