package runner

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"

	"golang.org/x/sync/errgroup"

	"torchx/runtime/backend"
	"torchx/runtime/config"
	"torchx/runtime/history"
	"torchx/runtime/sweep"
)

// SweepBackend returns the name of the backend that runs sweeps. Errors: backend.ErrUnsupported.
func (r *Runner) SweepBackend() (string, error) {
	for _, name := range r.Backends.Names() {
		if can, err := r.Backends.Capabilities(name); err == nil && can.Trials != nil {
			return name, nil
		}
	}
	return "", backend.Errorf(backend.ErrUnsupported, "no backend runs sweeps")
}

// trialRunner returns the backend of a sweep. Errors: backend.ErrUnsupported if the app is none.
func (r *Runner) trialRunner(ref history.AppKey) (backend.TrialRunner, error) {
	can, err := r.Backends.Capabilities(ref.Backend)
	if err == nil && can.Trials == nil {
		err = backend.Errorf(backend.ErrUnsupported, "app %s is not a sweep", ref.Handle())
	}
	return can.Trials, err
}

// IsSweep reports whether an app is a sweep.
func (r *Runner) IsSweep(ref history.AppKey) bool {
	_, err := r.trialRunner(ref)
	return err == nil
}

// Trials returns how a sweep stands. Errors: backend.ErrUnsupported, backend.ErrNotFound.
func (r *Runner) Trials(ctx context.Context, ref history.AppKey) (*sweep.Snapshot, error) {
	t, err := r.trialRunner(ref)
	if err != nil {
		return nil, err
	}
	return t.Trials(ctx, ref.ID)
}

// SweepOf returns what was submitted as a sweep. Errors: as of Trials.
func (r *Runner) SweepOf(
	ctx context.Context, ref history.AppKey,
) (*sweep.Definition, iter.Seq2[*sweep.Trial, error], error) {
	t, err := r.trialRunner(ref)
	if err != nil {
		return nil, nil, err
	}
	return t.SweepOf(ctx, ref.ID)
}

// ExtendSweep adds trials to a sweep that has ended, and starts it again. Errors: as of Trials,
// *backend.StartError.
func (r *Runner) ExtendSweep(ctx context.Context, ref history.AppKey, e sweep.Extension) error {
	t, err := r.trialRunner(ref)
	if err != nil {
		return err
	}
	if s, err := r.Status(ctx, ref); err != nil {
		return err
	} else if !s.State.Terminal() {
		return fmt.Errorf("sweep %s is %s: wait for its end, or cancel it", ref.Handle(), s.State)
	}
	e.Reopen = func() { // if the extension fails, the next status corrects it
		if r.History == nil {
			return
		}
		if err := r.History.Reopen(ctx, ref.Backend, ref.ID); err != nil &&
			!errors.Is(err, history.ErrNotFound) {
			r.warn("%v", err)
		}
	}
	if err := t.Extend(ctx, ref.ID, e); err != nil {
		return fmt.Errorf("extend sweep %s: %w", ref.Handle(), err)
	}
	return nil
}

// TrialCfg returns the backend of a sweep's trials by its canonical name, their options, and
// warnings about these. With submit, a target that depends on the environment is made
// explicit, so that all trials have the same. Errors: as of Plan.
func (r *Runner) TrialCfg(
	backendName string, layers []backend.Layer, submit bool,
) (name string, cfg backend.Config, warnings []string, err error) {
	t, err := r.resolve(backendName, layers)
	if err != nil {
		return "", nil, nil, err
	}
	if t.backend.Capabilities().Trials != nil {
		return "", nil, nil, backend.Errorf(backend.ErrUnsupported, "backend %s runs sweeps, which cannot be trials (choose another backend with -s)", t.name)
	}
	if submit {
		t.cfg, err = resolveTarget(t.backend, t.cfg)
	}
	return t.name, t.cfg, t.warnings, err
}

// TrialOptions say as part of what a trial runs.
type TrialOptions struct {
	ID       string        // of its app; "": a new one
	Sweep    string        // ID of the sweep; "" to check the trial before there is one
	Environ  []string      // see PlanRequest
	Cfg      backend.Layer // overrides the options of the sweep
	Strict   bool          // see PlanRequest
	Progress backend.Progress
}

// PlanTrial plans the app of a trial. Errors: as of Plan.
func (r *Runner) PlanTrial(
	ctx context.Context, d *sweep.Definition, t *sweep.Trial, o TrialOptions,
) (*Planned, error) {
	source := d.Source
	source.Args, source.ParentRunID = t.Args, o.Sweep
	env := d.Env.Clone()
	for _, e := range t.Variables() {
		env.Set(e.Key, e.Value)
	}
	if t.Request != nil {
		source.Request = t.Request
	}
	q := PlanRequest{
		Backend: d.Backend, ID: o.ID, App: t.App, Cfg: []backend.Layer{o.Cfg, backend.JSONLayer(d.Cfg, "the sweep")}, Env: env,
		DefaultImage: d.DefaultImage, Environ: o.Environ, Workspace: d.Workspace, WorkspaceWhy: d.WorkspaceWhy,
		Strict: o.Strict, Progress: o.Progress, Tracking: Tracking{ParentRunID: o.Sweep},
		Provenance: Provenance{Source: source, Labels: history.Labels{Tags: trialTags(t, o.Sweep)}},
	}
	for _, tracker := range d.Trackers {
		q.Trackers = append(q.Trackers, config.Tracker(tracker))
	}
	return r.Plan(ctx, q)
}

// trialTags returns the tags of a trial: what identifies it, and its parameters as far as they
// are valid tags.
func trialTags(t *sweep.Trial, sweepID string) map[string]string {
	own := map[string]string{sweep.TrialTag: strconv.Itoa(t.Number)}
	if sweepID != "" {
		own[sweep.SweepTag] = sweepID
	}
	tags := map[string]string{}
	for _, p := range t.Params {
		if len(tags)+len(own) < history.MaxTags && history.ValidTag(p.Name, p.Value) {
			tags[p.Name] = p.Value
		}
	}
	maps.Copy(tags, own)
	return tags
}

// deleteTrials deletes the apps of the trials of a sweep that has ended, whose own controller may
// have left some running.
func (r *Runner) deleteTrials(ctx context.Context, ref history.AppKey, o DeleteOptions) error {
	s, err := r.Trials(ctx, ref)
	if errors.Is(err, backend.ErrNotFound) {
		return nil // only the history has the sweep
	}
	if err != nil {
		return err
	}
	if _, err := r.Backends.Get(s.Definition.Backend); err != nil { // the registry has no lock
		return err
	}
	o.Force = true
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i := range s.Trials {
		if app := s.Trials[i].App; app.ID != "" {
			g.Go(func() error {
				if err := r.Delete(ctx, app, o); !errors.Is(err, backend.ErrNotFound) {
					return err
				}
				return nil
			})
		}
	}
	return g.Wait()
}
