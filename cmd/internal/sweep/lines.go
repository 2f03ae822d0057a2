package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// inLines prints a line for each trial that ends.
func (v *view) inLines(ctx context.Context) error {
	l := lines{Console: v.Console, since: v.since, printed: map[int]bool{}}
	return v.each(ctx, func(s *sweep.Snapshot) error {
		l.add(s)
		return nil
	})
}

// lines prints ends of trials, each once.
type lines struct {
	*ui.Console
	since   time.Time // earlier ends are not printed
	printed map[int]bool
}

func (l *lines) add(s *sweep.Snapshot) {
	var ended []*sweep.TrialStatus
	for i := range s.Trials {
		if t := &s.Trials[i]; t.State.Terminal() && !l.printed[t.Number] {
			ended = append(ended, t)
		}
	}
	slices.SortStableFunc(ended, func(a, b *sweep.TrialStatus) int { return compareEnds(a, b) })
	for _, t := range ended {
		l.printed[t.Number] = true
		l.print(s, t)
	}
}

func compareEnds(a, b *sweep.TrialStatus) int {
	switch {
	case a.FinishedAt == nil || b.FinishedAt == nil:
		return cmp.Compare(a.Number, b.Number)
	default:
		return a.FinishedAt.Compare(*b.FinishedAt)
	}
}

// print prints "3/60 done: trial 9 SUCCEEDED after 1m3s, val_loss 0.231 (lr=0.01 bs=32)".
func (l *lines) print(s *sweep.Snapshot, t *sweep.TrialStatus) {
	switch {
	case t.FinishedAt != nil && t.FinishedAt.Before(l.since):
		return
	case t.StartedAt == nil && t.State == spec.Cancelled:
		return // it was not needed any more; the result counts such trials
	}
	text := fmt.Sprintf("%d/%d done: trial %d %s", len(l.printed), len(s.Trials), t.Number, t.State)
	if t.StartedAt != nil && t.FinishedAt != nil {
		text += " after " + ui.Took(t.FinishedAt.Sub(*t.StartedAt))
	}
	if t.Value != nil {
		text += fmt.Sprintf(", %s %s", s.Definition.Metric, ui.NumberText(*t.Value))
	}
	if note := ui.TrialNote(t); note != "" {
		text += ": " + note
	}
	if params := ui.ParamsText(l.Console, t.Params); params != "" {
		text += " (" + params + ")"
	}
	l.Say("%s", text)
}
