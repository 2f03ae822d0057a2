package compare

import (
	"cmp"
	"context"
	"slices"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
)

// withTrials replaces sweeps by their trials, at most limit of each, and compares by their
// metrics and goals unless the user decided otherwise.
func withTrials(ctx context.Context, f *program.Factory, r *runner.Runner, refs []runner.Ref,
	g *goals, limit int,
) ([]runner.Ref, error) {
	var all []runner.Ref
	for _, ref := range refs {
		if !r.IsSweep(ref) {
			all = append(all, ref)
			continue
		}
		apps, err := program.TrialAppsOf(ctx, r, ref, limit)
		if err != nil {
			return nil, err
		}
		if apps.All > len(apps.Refs) {
			f.Say("%s of %d of %s (--limit compares more)",
				ui.Counted(len(apps.Refs), "best trial"), apps.All, ref.Handle())
		}
		all = append(all, slices.DeleteFunc(apps.Refs, func(t runner.Ref) bool { return slices.Contains(all, t) })...)
		if d := apps.Definition; d.Metric != "" && g.byName[d.Metric] == "" {
			g.byName[d.Metric] = cmp.Or(d.Goal, metrics.Min)
		}
	}
	return all, nil
}
