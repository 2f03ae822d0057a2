package status

import (
	"strings"
	"testing"

	"torchx/cmd/internal/ui"
)

// TestFitEvents checks that the date is dropped from the times of one day, and from no others.
func TestFitEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ day, want string }{
		{"2026-03-01", "2026-03-01    REPLICA  WHAT\n12:00:00.000           SUBMITTED\n12:00:01.000  train/0  FAILED: a long story\n"},
		{"2026-03-02", "TIME                     REPLICA  WHAT\n2026-03-01 12:00:00.000           SUBMITTED\n2026-03-02 12:00:01.000  train/0  FAILED: a…\n"},
	} {
		tab := ui.Table{Header: []string{"TIME", "REPLICA", "WHAT"}}
		tab.Add(ui.NewCell("2026-03-01 12:00:00.000", ""), ui.Cell{}, ui.NewCell("SUBMITTED", ""))
		tab.Add(ui.NewCell(c.day+" 12:00:01.000", ""), ui.NewCell("train/0", ""), ui.NewCell("FAILED: a long story", ""))
		fitEvents(&tab, 44)
		var b strings.Builder
		must(t, tab.Write(&b, ui.Style{}))
		if b.String() != c.want {
			t.Errorf("got\n%s\nwant\n%s", b.String(), c.want)
		}
	}
}
