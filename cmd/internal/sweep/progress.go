package sweep

import (
	"fmt"
	"slices"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/sweep"
)

// progressText returns "17/60 done, 2 running, 1 failed, best val_loss 0.231 (trial 9), about
// 12m left".
func progressText(s *sweep.Snapshot, now time.Time) string {
	text := s.Progress()
	if s.Best >= 0 {
		text += fmt.Sprintf(", best %s %s (trial %d)", s.Definition.Metric,
			ui.NumberText(*s.Trials[s.Best].Value), s.Best)
	}
	if left, ok := remaining(s, now); ok {
		text += ", about " + ui.Age(left) + " left"
	}
	return text
}

// remaining estimates how long a sweep takes to its end, from the median duration of the trials
// that have ended. ok is false if none has, or if nothing runs.
func remaining(s *sweep.Snapshot, now time.Time) (left time.Duration, ok bool) {
	var took []time.Duration
	for i := range s.Trials {
		if t := &s.Trials[i]; t.State.Terminal() {
			if d, started := ui.TrialDuration(t, now); started {
				took = append(took, d)
			}
		}
	}
	if len(took) == 0 || s.Alive == 0 {
		return 0, false
	}
	slices.Sort(took)
	median := took[len(took)/2]
	work := time.Duration(s.Waiting) * median
	for i := range s.Trials {
		if t := &s.Trials[i]; !t.State.Terminal() {
			if d, started := ui.TrialDuration(t, now); started {
				work += max(0, median-d)
			}
		}
	}
	return work / time.Duration(s.Alive), true
}
