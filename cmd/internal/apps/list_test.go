package apps

import (
	"slices"
	"strings"
	"testing"
	"time"

	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/spec"
)

func TestListTable(t *testing.T) {
	t.Parallel()
	code := 7
	apps := []history.View{
		{App: history.App{
			AppKey: history.AppKey{Backend: "local", ID: "train-pmh49wllj3gz9"}, Name: "train", SubmittedAt: before(3700),
			Source:  history.Source{Component: "components/train.star:main"},
			Outcome: history.Outcome{State: spec.Failed, StartedAt: before(3600), FinishedAt: before(3500.5), ExitCode: &code, NumRestarts: 2},
		}},
		{App: history.App{
			AppKey: history.AppKey{Backend: "local", ID: "a-1"}, Name: "a", SubmittedAt: before(95),
			Outcome: history.Outcome{State: spec.Running, StartedAt: before(90)},
		}},
		{App: history.App{
			AppKey: history.AppKey{Backend: "local", ID: "b-2"}, Name: "b", SubmittedAt: before(5),
			Outcome: history.Outcome{State: spec.Pending, Msg: "queued: waits for 1 GPU"},
		}},
	}
	text := func(apps []history.View, width int) string {
		tab := listTable(apps, noon)
		fitList(tab, width)
		var b strings.Builder
		if err := tab.Write(&b, ui.Style{}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := `APP HANDLE                          APP NAME  STATE           COMPONENT                   AGE  DURATION  EXIT  RESTARTS
local://torchx/train-pmh49wllj3gz9  train     FAILED          components/train.star:main  1h   1m40s     7     2
local://torchx/a-1                  a         RUNNING                                     1m   1m30s
local://torchx/b-2                  b         PENDING queued                              5s
`
	if got := text(apps, 200); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	want = `APP HANDLE                          STATE           AGE  DURATION  EXIT
local://torchx/train-pmh49wllj3gz9  FAILED          1h   1m40s     7
local://torchx/a-1                  RUNNING         1m   1m30s
local://torchx/b-2                  PENDING queued  5s
`
	if got := text(apps, 80); got != want {
		t.Errorf("at 80 columns: got\n%s\nwant\n%s", got, want)
	}
	apps[0].NumRestarts = 0
	want = `APP HANDLE                          STATE    COMPONENT       AGE  DURATION  EXIT
local://torchx/train-pmh49wllj3gz9  FAILED   components/tr…  1h   1m40s     7
local://torchx/a-1                  RUNNING                  1m   1m30s
`
	if got := text(apps[:2], 80); got != want {
		t.Errorf("without restarts: got\n%s\nwant\n%s", got, want)
	}
}

// noon is the time at which the tables of tests are shown.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// before returns a time some seconds before noon.
func before(seconds float64) *time.Time {
	t := noon.Add(-time.Duration(seconds * float64(time.Second)))
	return &t
}

// TestUserColumn: a list with apps of others says who submitted them.
func TestUserColumn(t *testing.T) {
	t.Parallel()
	own, other := history.View{Recorded: true}, history.View{Foreign: true}
	own.User, other.User = "me", "ann"
	for want, rows := range map[bool][]history.View{false: {own}, true: {own, other}} {
		tab := listTable(rows, time.Now())
		if got := slices.Contains(tab.Header, "USER"); got != want {
			t.Errorf("got %v of %d apps, want %v", got, len(rows), want)
		}
	}
}
