package sweep

import (
	"context"
	"time"

	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// collectEvery is how often metrics are collected of a trial that runs elsewhere: nothing on this
// machine does so otherwise.
const collectEvery = 10 * time.Second

// begin starts to follow the metrics of a trial that has an app.
func (c *controller) begin(n int) {
	if finder := c.target.Capabilities().Folder; finder != nil && c.watcher != nil {
		c.watcher.begin(n, finder.FolderOf(c.ref(n).ID))
	}
}

// collect collects the metrics of an app elsewhere until ctx ends.
func (c *controller) collect(ctx context.Context, ref history.AppKey) {
	if c.watcher == nil || c.target.Capabilities().RunsHere {
		return
	}
	for tick := time.NewTicker(collectEvery); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		c.complete(ctx, ref)
	}
}

// complete completes the metrics of an app as far as they are known.
func (c *controller) complete(ctx context.Context, ref history.AppKey) {
	if c.watcher == nil {
		return
	}
	c.collections <- struct{}{}
	_, err := c.run.Metrics(ctx, ref)
	<-c.collections
	if err != nil && ctx.Err() == nil {
		c.Log.Printf("metrics of %s: %v", ref.Handle(), err)
	}
}

// takeValue adds the best value of the sweep's metric to the end of a trial, and returns the
// verdict on the sweep that follows from its last values, nil if none does.
func (c *controller) takeValue(n int, e *sweep.Event) *verdict {
	if c.watcher == nil {
		return nil
	}
	v, verdict := c.watcher.end(n)
	if v != nil && e.Kind == sweep.End {
		e.Value, e.Step = &v.Value, v.Step
	}
	return verdict
}

// liveValues completes a snapshot by the values of trials that run.
func (b *Backend) liveValues(s *sweep.Snapshot) {
	if s.Definition.Metric == "" || s.Alive == 0 {
		return
	}
	target, err := b.open(s.Definition.Backend)
	if err != nil {
		return // the states of trials are known all the same
	}
	finder := target.Capabilities().Folder
	if finder == nil {
		return
	}
	for i := range s.Trials {
		if t := &s.Trials[i]; t.State == spec.Running && t.Value == nil {
			t.Value, t.Step = bestOf(finder.FolderOf(t.App.ID), s.Definition.Rules)
		}
	}
}

// bestOf returns the best value of a trial that runs, and its step if it is the last one.
func bestOf(folder string, r sweep.Rules) (value *float64, step *int64) {
	all, _ := metrics.Summaries(folder) // what precedes damage counts
	for i := range all {                // the first replica counts
		s := &all[i]
		if s.Name != r.Metric || s.Count == s.NonFinite {
			continue
		}
		best := r.Goal.Best(s)
		if s.HasStep && s.Last == best {
			step = &s.LastStep
		}
		return &best, step
	}
	return nil, nil
}
