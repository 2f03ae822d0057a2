package sweep

import (
	"cmp"
	"slices"
	"strings"

	"torchx/cmd/internal/planning"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/metrics"
	"torchx/runtime/pattern"
	"torchx/runtime/sweep"
)

// ruleFlags are the flags that say how trials are run.
type ruleFlags struct {
	metric              string
	parallel            string
	goal                string // of metric, as in metrics.Goal
	earlyStop, stopWhen string
	keepGoing, failFast bool
}

// readMetrics reads the values of --metric: NAME=REGEX records a metric, NAME selects the one by
// which trials are compared. Without a NAME that is the first that is recorded.
func (r *ruleFlags) readMetrics(o *planning.Options, texts []string) error {
	for _, text := range texts {
		if strings.Contains(text, "=") {
			o.Metrics = append(o.Metrics, text)
			continue
		}
		name, known, err := metrics.ParseGoal(text)
		goal := string(known)
		switch {
		case err != nil:
			return program.Usagef("sweep", "--metric: %v", err)
		case r.metric != "":
			return program.Usagef("sweep", "--metric names two metrics, %s and %s: trials are compared by one (write NAME=REGEX to record another)", ui.QuoteWord(r.metric), ui.QuoteWord(name))
		case !pattern.ValidName(name):
			return program.Usagef("sweep", "--metric %s is not the name of a metric", ui.QuoteWord(text))
		case goal != "" && r.goal != "" && goal != r.goal:
			return program.Usagef("sweep", "--metric %s and --goal %s contradict each other",
				ui.QuoteWord(text), r.goal)
		}
		r.metric = name
		if goal != "" {
			r.goal = goal
		}
	}
	if r.metric == "" && len(o.Metrics) > 0 {
		r.metric, _, _ = strings.Cut(o.Metrics[0], "=")
	}
	return nil
}

// rules returns the rules of the sweep.
func (r *ruleFlags) rules() (sweep.Rules, error) {
	rules := sweep.Rules{FailFast: r.failFast, Metric: r.metric, EarlyStop: r.earlyStop, StopWhen: r.stopWhen}
	var parallel int64
	if err := parseNumber("--parallel", r.parallel, maxCount, &parallel); err != nil {
		return rules, err
	}
	rules.Parallel = int(parallel)
	switch {
	case r.failFast && r.keepGoing:
		return rules, program.Usagef("sweep", "--fail-fast cannot be used with --keep-going")
	case r.goal != "" && !slices.Contains([]string{string(metrics.Min), string(metrics.Max)}, r.goal):
		return rules, program.Usagef("sweep", "--goal is min or max, not %s", ui.QuoteWord(r.goal))
	case r.goal != "" && r.metric == "":
		return rules, program.Usagef("sweep", "--goal needs --metric NAME")
	case r.earlyStop != "" && r.metric == "":
		return rules, program.Usagef("sweep",
			"--early-stop compares trials by a metric: add --metric NAME")
	}
	if r.earlyStop != "" {
		if _, err := sweep.ParseStopRule(r.earlyStop); err != nil {
			return rules, program.Usagef("sweep", "--early-stop %v", err)
		}
	}
	if r.stopWhen != "" {
		if _, err := history.ParseMetricFilter(r.stopWhen); err != nil {
			return rules, program.Usagef("sweep", "--stop-when %s is %v",
				ui.QuoteWord(r.stopWhen), err)
		}
	}
	if r.metric != "" {
		rules.Goal = cmp.Or(metrics.Goal(r.goal), metrics.GoalOf(r.metric), metrics.Min)
	}
	return rules, nil
}
