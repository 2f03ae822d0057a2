package results

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/humanize"
	"torchx/runtime/metrics"
	"torchx/runtime/runner"
	"torchx/runtime/sweep"
)

// app is an app of the command line with its series.
type app struct {
	runner.Ref
	role   string // "": all
	ids    []int  // none: all
	label  string // of a trial; "": the ID
	dir    string // with the metrics
	series []metrics.Summary
}

// find sets the apps and names that the arguments mean. Names follow the handles; an argument that
// is a name of a metric and begins the ID of an app is the name.
func (v *view) find(ctx context.Context, arguments []string) error {
	for i, text := range arguments {
		isHandle := i == 0 || text == "-" || strings.Contains(text, "://")
		if !isHandle && slices.Contains(v.known(), text) {
			v.names = append(v.names, text)
			continue
		}
		trials, err := v.openTrials(ctx, text)
		if len(trials) > 0 {
			v.apps = append(v.apps, trials...)
			continue
		}
		var a *app
		if err == nil {
			a, err = v.open(ctx, text)
		}
		if !isHandle && errors.Is(err, backend.ErrNotFound) {
			v.names = append(v.names, text) // checkNames reports it
			continue
		}
		if err != nil {
			return err
		}
		v.apps = append(v.apps, a)
	}
	if v.tail {
		return nil // a name may come later
	}
	return v.checkNames()
}

// openTrials returns the trials that SWEEP or SWEEP/trial/ID,… means, the best first; none if the
// text means another app. A page has only as many as one plot.
func (v *view) openTrials(ctx context.Context, text string) ([]*app, error) {
	ref, role, ids, err := v.runner.ResolveLog(ctx, text)
	if err != nil || !v.runner.IsSweep(ref) {
		return nil, err
	}
	limit := maxLines
	if v.csv || v.json || len(ids) > 0 {
		limit = 0
	}
	trials, err := program.TrialAppsOf(ctx, v.runner, ref, limit)
	if err != nil {
		return nil, err
	}
	if role != "" && role != sweep.Role {
		return nil, &runner.LookupError{Msg: fmt.Sprintf("no role %q in %s: it has %s", role, ref.Handle(), sweep.Role)}
	}
	if more := trials.All - len(trials.Refs); more > 0 && !v.tail {
		v.Say("the best %d of %d trials (--json and --csv have all)", len(trials.Refs), trials.All)
	}
	var apps []*app
	for _, one := range trials.Refs {
		number := trials.Trials[one]
		if len(ids) > 0 && !slices.Contains(ids, number) {
			continue
		}
		a, err := v.open(ctx, one.Handle())
		if err != nil {
			return nil, err
		}
		if len(v.apps) == 0 { // otherwise numbers may repeat
			a.label = fmt.Sprintf("%s %d", sweep.Role, number)
		}
		apps = append(apps, a)
	}
	if len(apps) == 0 {
		return nil, &runner.LookupError{Msg: fmt.Sprintf("no trial %v of %s has an app", ids, ref.Handle())}
	}
	return apps, nil
}

// name returns how tables and plots call an app.
func (a *app) name() string { return cmp.Or(a.label, a.ID) }

// open returns the app that HANDLE[/ROLE[/ID,…]] means.
func (v *view) open(ctx context.Context, text string) (*app, error) {
	a := &app{}
	var err error
	if a.Ref, a.role, a.ids, err = v.runner.ResolveLog(ctx, text); err != nil {
		return nil, err
	}
	if v.scan != nil {
		if a.dir, err = v.scan.app(ctx, v.runner, a); err != nil {
			return nil, err
		}
	} else if a.dir, err = v.runner.Metrics(ctx, a.Ref); err != nil {
		return nil, err
	}
	if err := v.load(a); err != nil {
		return nil, err
	}
	if len(a.series) > 0 && v.scan == nil {
		return a, nil // the backend need not be asked
	}
	status, err := v.runner.Status(ctx, a.Ref)
	if err != nil {
		return nil, err
	}
	return a, v.runner.CheckReplicas(ctx, a.Ref, status, a.role, a.ids)
}

// load reads the series of an app.
func (v *view) load(a *app) error {
	all, err := metrics.Summaries(a.dir)
	if err != nil {
		v.WarnOnce(err.Error()) // what precedes the damage is shown
	}
	a.series = slices.DeleteFunc(all, func(s metrics.Summary) bool {
		return a.role != "" && s.Role != a.role || len(a.ids) > 0 &&
			!slices.Contains(a.ids, s.Replica)
	})
	return nil
}

func (v *view) hasMetrics() bool { return len(v.known()) > 0 }

// known returns the names of all metrics of the apps, each once, in order.
func (v *view) known() []string {
	var names []string
	for _, a := range v.apps {
		for i := range a.series {
			names = append(names, a.series[i].Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxNamed is the number of names in an error.
const maxNamed = 8

// checkNames returns an error if no app has a metric of a name, unless there are no metrics at all.
func (v *view) checkNames() error {
	known := v.known()
	if len(known) == 0 {
		return nil
	}
	for _, name := range v.names {
		if slices.Contains(known, name) {
			continue
		}
		of := v.apps[0].Handle()
		if len(v.apps) > 1 {
			of = ui.Counted(len(v.apps), "app")
		}
		list := strings.Join(known[:min(len(known), maxNamed)], ", ")
		if len(known) > maxNamed {
			list += fmt.Sprintf(" and %d more", len(known)-maxNamed)
		}
		return &runner.LookupError{Msg: fmt.Sprintf("no metric or app %s: %s has %s.%s", ui.QuoteWord(name), of, list, humanize.Hint(name, known))}
	}
	return nil
}

// selected returns the series of an app that the names select, all without names.
func (v *view) selected(a *app) []metrics.Summary {
	if len(v.names) == 0 {
		return a.series
	}
	var out []metrics.Summary
	for _, name := range v.names {
		for i := range a.series {
			if a.series[i].Name == name {
				out = append(out, a.series[i])
			}
		}
	}
	return out
}

// explainNone says how to record metrics, or that the app has none.
func (v *view) explainNone(ctx context.Context) error {
	a := v.apps[0]
	who := a.Handle() + " has"
	if len(v.apps) > 1 {
		who = "these apps have"
	}
	if v.scan != nil {
		v.Say("the log of %s has no line with a number that matches (`torchx log %s --regex …` tries a pattern)", a.Handle(), a.ID)
		return v.failNamed()
	}
	if _, err := os.Stat(a.dir); errors.Is(err, fs.ErrNotExist) {
		v.Say("%s no metrics on this machine, and no copy of the log to find some in (`torchx log %s` copies the log of an app on a cluster)", who, a.ID)
		return v.failNamed()
	}
	not := "no metrics"
	if s, err := v.runner.Status(ctx, a.Ref); err == nil && !s.State.Terminal() {
		not += " yet"
	}
	v.Say(`%s %s: append lines such as {"step": 10, "loss": 0.31} to $TORCHX_METRICS, or see torchx help record-metrics`, who, not)
	return v.failNamed()
}

// failNamed returns an error without a message if names were asked for.
func (v *view) failNamed() error {
	if len(v.names) == 0 {
		return nil
	}
	return errNoMetrics
}
