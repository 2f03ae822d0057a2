package sweep

import (
	"bytes"
	"fmt"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/sweep"
	"torchx/starlark/specmodule"
)

// bestTrials is how many trials the result of a sweep shows.
const bestTrials = 10

// printResult prints the best trials, or those that failed, and what to type next.
func (v *view) printResult(s *sweep.Snapshot) error {
	c := v.Console
	if c.Level > ui.LevelInfo {
		return nil
	}
	shown := sweep.Ranked(s)
	tab := ui.NewTrialTable(c, s, shown[:min(len(shown), bestTrials)], time.Now())
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
	if s.Reason != "" && s.Halted != sweep.ByUser {
		c.Say("ended early: %s", s.Reason)
	}
	if s.Best >= 0 {
		v.printBest(s)
	}
	return nil
}

func (v *view) printBest(s *sweep.Snapshot) {
	c, best := v.Console, &s.Trials[s.Best]
	text := fmt.Sprintf("best %s: %s, trial %d", s.Definition.Metric,
		ui.NumberText(*best.Value), best.Number)
	if params := ui.ParamsText(c, best.Params); params != "" {
		text += " (" + params + ")"
	}
	c.Say("%s", text)
	if best.App.ID != "" {
		c.Say("repeat it: torchx rerun %s", best.App.Handle())
	}
	c.Say("plot all: torchx metrics %s %s", v.Ref.Handle(),
		specmodule.QuoteWord(s.Definition.Metric))
}
