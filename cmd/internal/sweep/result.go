package sweep

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
	"torchx/runtime/sweep/policy"
	"torchx/starlark/specmodule"
)

// bestTrials is how many trials the result of a sweep shows.
const bestTrials = 10

// Ranked returns the trials with a value of the metric, the best first, then those that failed, and
// the others by number.
func Ranked(s *sweep.Snapshot) []int {
	order := make([]int, len(s.Trials))
	for i := range order {
		order[i] = i
	}
	class := func(t *sweep.TrialStatus) int {
		switch {
		case t.Value != nil && *t.Value == *t.Value:
			return 0
		case t.State == spec.Failed:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &s.Trials[i], &s.Trials[j]
		if c := cmp.Compare(class(a), class(b)); c != 0 || class(a) > 0 {
			return c
		}
		switch goal := s.Definition.Goal; {
		case goal.Better(*a.Value, *b.Value):
			return -1
		case goal.Better(*b.Value, *a.Value):
			return 1
		}
		return 0
	})
	return order
}

// printResult prints the best trials, or those that failed, and what to type next.
func (v *view) printResult(s *sweep.Snapshot) error {
	c := v.Console
	if c.Level > ui.LevelInfo {
		return nil
	}
	shown := Ranked(s)
	tab := NewTrialTable(c, s, shown[:min(len(shown), bestTrials)], time.Now())
	if width := ui.ScreenWidth(v.held.screen); width > 0 {
		tab.Fit(width)
	}
	var text bytes.Buffer
	if err := tab.Write(&text, c.ErrStyle); err != nil {
		return err
	}
	_, _ = c.Err.Write(text.Bytes()) // an error of stderr cannot be reported
	if more := len(s.Trials) - bestTrials; more > 0 {
		c.Say("%s not shown: torchx status %s", ui.Counted(more, "more trial"), v.Ref.Handle())
	}
	c.Say("%s", s.Progress())
	if s.Reason != "" && s.Halted != policy.ByUser {
		c.Say("ended early: %s", s.Reason)
	}
	if s.Best >= 0 {
		v.printBest(s)
	}
	return nil
}

func (v *view) printBest(s *sweep.Snapshot) {
	c, best := v.Console, &s.Trials[s.Best]
	text := fmt.Sprintf("best %s: %s, trial %d", s.Definition.Metric, ui.NumberText(*best.Value), best.Number)
	if params := paramsText(c, best.Params); params != "" {
		text += " (" + params + ")"
	}
	c.Say("%s", text)
	if best.App.ID != "" {
		c.Say("repeat it: torchx rerun %s", best.App.Handle())
	}
	c.Say("plot all: torchx metrics %s %s", v.Ref.Handle(), specmodule.QuoteWord(s.Definition.Metric))
}
