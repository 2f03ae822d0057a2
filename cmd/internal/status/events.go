package status

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/apps"
	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/onend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// NewEvents returns the command `events`.
func NewEvents(f *program.Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Name:  "events",
		Usage: "show an app's history",
		UsageText: "HANDLE [--json]\n" +
			"torchx events -\n" +
			"torchx events --json echo",
		Description: "Show the recorded events of an app, oldest first: its submission, each change of state of the app and of its " +
			"replicas, each restart, what ran at its end, and what the backend's system recorded, such as events of pods. " +
			program.HandleHelp,
		Flags: []cli.Flag{program.JSONFlag(&asJSON)},
		Action: apps.ForApp(f, func(ctx context.Context, r *runner.Runner, ref runner.Ref) error {
			return events(ctx, f, r, ref, asJSON)
		}),
	}
}

func events(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, asJSON bool,
) error {
	// Reading the status records events since the previous command.
	s, err := r.Status(ctx, ref)
	if err != nil {
		return err
	}
	if r.History == nil {
		return errors.New("events are not available: the history cannot be opened (see torchx doctor)")
	}
	events, err := r.History.Events(ctx, ref.Backend, ref.ID)
	if errors.Is(err, history.ErrNotFound) {
		return fmt.Errorf("app %s has no events: it is not in this history", ref.Handle())
	}
	if err != nil {
		return err
	}
	events = append(events, onEndEvents(r, ref, s)...)
	for _, e := range r.BackendEvents(ctx, ref, s) {
		if recorded := events[0].Time; e.Time.Before(recorded) { // clusters report whole seconds
			e.Time = recorded
		}
		events = append(events, e)
	}
	slices.SortStableFunc(events, func(a, b history.Event) int { return a.Time.Compare(b.Time) })
	if asJSON {
		return f.PrintMaskedJSON(eventObjects(ref, events))
	}
	return eventTable(f, events, time.Local)
}

// onEndEvents returns what ran at the end of the app, from its folder.
func onEndEvents(r *runner.Runner, ref runner.Ref, s *spec.Status) (events []history.Event) {
	folder, err := r.Folder(ref)
	if err != nil {
		return nil
	}
	for _, record := range onend.Records(folder) {
		events = append(events, history.Event{Time: record.Time, Kind: history.EventOnEnd, State: s.State, Msg: record.String()})
	}
	return events
}

// eventObject is an element of `events --json`; values that do not apply are null.
type eventObject struct {
	Handle   string            `json:"handle"`
	AppID    string            `json:"app_id"`
	Time     time.Time         `json:"time"`
	Kind     history.EventKind `json:"kind"`
	State    spec.State        `json:"state"`
	Role     ui.NullString     `json:"role"`
	Replica  *int              `json:"replica"`
	Attempt  *int              `json:"attempt"`
	ExitCode *int              `json:"exit_code"`
	Signal   ui.NullString     `json:"signal"`
	Msg      ui.NullString     `json:"msg"`
}

func eventObjects(ref runner.Ref, events []history.Event) []eventObject {
	objects := make([]eventObject, len(events))
	for i := range events {
		e := &events[i]
		objects[i] = eventObject{
			Handle: ref.Handle(), AppID: ref.ID, Time: e.Time.UTC(), Kind: e.Kind, State: e.State, Role: ui.NullString(e.Role),
			ExitCode: e.ExitCode, Signal: ui.NullString(e.Signal), Msg: ui.NullString(e.Msg),
		}
		if e.Role != "" {
			objects[i].Replica, objects[i].Attempt = &e.Replica, &e.Attempt
		}
	}
	return objects
}

func eventTable(f *program.Factory, events []history.Event, loc *time.Location) error {
	tab := ui.Table{Header: []string{"TIME", "REPLICA", "WHAT"}}
	for i := range events {
		e := &events[i]
		replica := ""
		if e.Role != "" {
			replica = fmt.Sprintf("%s/%d", e.Role, e.Replica)
		}
		tab.Add(ui.NewCell(e.Time.In(loc).Format(time.DateOnly+" "+clockFormat), ui.AnsiDim),
			ui.NewCell(replica, ""), ui.NewCell(f.Masked(eventText(e)), eventColor(e)))
	}
	return f.PrintTable(&tab, func(width int) { fitEvents(&tab, width) })
}

func eventColor(e *history.Event) string {
	if e.Kind == history.EventBackend {
		return ""
	}
	return ui.StateColor(e.State)
}

// clockFormat is the format of the time of day of an event.
const clockFormat = "15:04:05.000"

// fitEvents makes the table at most width columns wide: events of one day share the date, then
// texts are cut.
func fitEvents(tab *ui.Table, width int) {
	if tab.Width() > width && len(tab.Rows) > 0 {
		day := tab.Rows[0][0].Text[:len(time.DateOnly)]
		if !slices.ContainsFunc(tab.Rows, func(r []ui.Cell) bool { return !strings.HasPrefix(r[0].Text, day) }) {
			tab.Header[0] = day
			for _, r := range tab.Rows {
				r[0].Text = strings.TrimPrefix(r[0].Text, day+" ")
			}
		}
	}
	tab.Shorten("REPLICA", width, minShortened)
	tab.Cut(width)
}

// eventText describes an event in a few words.
func eventText(e *history.Event) string {
	text := e.State.String()
	if e.Kind == history.EventRecorded {
		text = "recorded as " + text
	}
	if e.Kind == history.EventRestart {
		return "restart: " + e.Msg
	}
	if e.Kind == history.EventBackend {
		return e.Msg
	}
	if e.Kind == history.EventOnEnd {
		return "on end: " + e.Msg
	}
	if e.Kind == history.EventMissing {
		text = string(e.Kind)
	}
	switch {
	case e.Signal != "":
		text += ", " + e.Signal
	case e.ExitCode != nil && (e.Role != "" || *e.ExitCode != 0 && e.Msg == ""): // the message of an app has it
		text += fmt.Sprintf(", exit code %d", *e.ExitCode)
	}
	if e.Attempt > 0 {
		text += fmt.Sprintf(", attempt %d", e.Attempt)
	}
	if e.Msg != "" {
		text += ": " + e.Msg
	}
	return text
}
