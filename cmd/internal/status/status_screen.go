package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/history"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

const (
	shownRestarts = 5  // the latest
	maxErrorLines = 10 // of the message in an error file
)

// statusPage is what `status` shows.
type statusPage struct {
	screen
	status    *spec.Status
	timeout   time.Duration   // of the app; 0: none
	described *history.View   // nil if not known
	command   string          // component with its arguments; "" if not known
	queue     string          // place in the queue; "" if the app does not wait there
	probed    map[string]bool // roles with a readiness probe
	trials    *sweep.Snapshot // nil: of other apps
	console   *ui.Console
	rows      func(others int) int // trials that fit below the other lines
	page      string               // URL of its page, or what serves it
}

// newStatusPage collects what the page shows beside the status. What cannot be read is left out.
func newStatusPage(
	ctx context.Context, f *program.Factory, r *runner.Runner, ref runner.Ref, s *spec.Status,
) *statusPage {
	page := &statusPage{screen: newScreen(f), status: s, queue: queuePlace(ctx, r, s), probed: map[string]bool{}, page: pageOf(f, ref), console: f.Console}
	page.rows = func(others int) int { return tableRows(f, others) }
	page.trials, page.imported = trialsOf(ctx, f, r, ref), importOf(r, ref)
	d, err := r.Describe(ctx, ref)
	if err != nil {
		return page
	}
	page.described = d
	page.command, page.timeout = commandText(f, d), timeoutOf(d)
	if app, err := decodeApp(d.Spec); err == nil {
		for i := range app.Roles {
			if o, err := app.Roles[i].Order(); err == nil && o.Ready != nil {
				page.probed[app.Roles[i].Name] = true
			}
		}
	}
	return page
}

// pageOf returns the URL of the page of an app, or the command that serves it.
func pageOf(f *program.Factory, ref runner.Ref) string {
	return cmp.Or(f.PageURL(ref), "torchx ui "+ref.ID)
}

// queuePlace returns the place of a waiting app in the queue of this machine: "2 of 3".
func queuePlace(ctx context.Context, r *runner.Runner, s *spec.Status) string {
	if s.State != spec.Pending || !strings.HasPrefix(s.Msg, spec.QueuedMark) {
		return ""
	}
	rows, err := r.List(ctx, runner.Filter{States: []spec.State{spec.Pending}, All: true})
	waiting := slices.DeleteFunc(rows, func(row history.View) bool { return !strings.HasPrefix(row.Msg, spec.QueuedMark) })
	newer := slices.IndexFunc(waiting, func(row history.View) bool { return row.Handle() == s.Handle })
	if err != nil || newer < 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", len(waiting)-newer, len(waiting))
}

// text returns the page: the app, its replicas, and the command to type next.
func (p *statusPage) text() string {
	s := p.status
	fields := ui.Fields{}
	fields.Add("App", p.clean(s.Handle))
	fields.AddColored("State", p.clean(ui.StateLine(s, p.now)), ui.StateColor(s.State))
	fields.Add("Message", p.message())
	fields.Add("Error", p.errorText())
	fields.Add("Queue", p.queue)
	fields.Add("Component", p.command)
	if p.described != nil {
		p.addOrigin(&fields, p.described)
	}
	fields.Add("Submitted", p.ago(s.SubmittedAt))
	fields.Add("Started", p.ago(s.StartedAt))
	fields.Add("Deadline", p.deadline())
	fields.Add("Ended", p.ago(s.FinishedAt)+p.afterFailure())
	fields.Add("Restarts", p.restarts())
	if p.trials == nil {
		fields.Add("Replicas", p.tally())
	}
	p.addSweep(&fields)
	if s.UIURL != nil {
		folder, isFolder := strings.CutPrefix(*s.UIURL, "file://")
		fields.Add(map[bool]string{true: "Files", false: "URL"}[isFolder], p.clean(folder))
	}
	fields.Add("Page", ui.OneLine(p.page)) // with its token, which p.clean would hide
	text := fields.Text(p.width, p.style)
	if p.trials != nil {
		text += "\n" + p.trialTable(p.rows(strings.Count(text, "\n")+1))
	} else if table := p.replicaTable(groupReplicas(s)); table != "" {
		text += "\n" + table
	}
	if next := p.next(); next != "" {
		text += "\n" + next + "\n"
	}
	return text
}

// afterFailure returns how long a failed app ran; the state of others has that.
func (p *statusPage) afterFailure() string {
	s := p.status
	if s.State != spec.Failed || s.StartedAt == nil || s.FinishedAt == nil {
		return ""
	}
	return ", after " + ui.Took(s.FinishedAt.Sub(*s.StartedAt))
}

// message returns the message of a failed app, unless it is about the first failure: that is
// in the state.
func (p *statusPage) message() string {
	s := p.status
	if s.State != spec.Failed || s.FirstFailure == nil || ui.IsAboutFirst(s) {
		return ""
	}
	return p.clean(s.Msg)
}

// errorText returns the message of the first error file.
func (p *statusPage) errorText() string {
	raw := p.status.StructuredErrorMsg
	if f := p.status.FirstFailure; f != nil && hasError(f.StructuredErrorMsg) {
		raw = f.StructuredErrorMsg
	}
	if p.status.State != spec.Failed || !hasError(raw) {
		return ""
	}
	lines := strings.Split(strings.TrimRight(ui.Clean(p.masked(errorMessage(raw)), true), "\n"), "\n")
	if more := len(lines) - maxErrorLines; more > 0 {
		lines = append(lines[:maxErrorLines], fmt.Sprintf("(%s more)", ui.Counted(more, "line")))
	}
	return strings.Join(lines, "\n")
}

// hasError reports whether an error file has contents.
func hasError(raw []byte) bool { return len(raw) > 0 && string(raw) != "null" }

// errorMessage returns the message of an error file, or all of a file in another format.
func errorMessage(raw []byte) string {
	if report, ok := spec.ParseErrorReport(raw); ok {
		return report.Message
	}
	return spec.ErrorText(raw)
}

// restarts returns the number of restarts and the latest of them.
func (p *statusPage) restarts() string {
	s := p.status
	count := max(s.NumRestarts, len(s.Restarts))
	if count == 0 {
		return ""
	}
	lines := []string{fmt.Sprint(count)}
	shown := s.Restarts[max(0, len(s.Restarts)-shownRestarts):]
	if len(shown) < count {
		lines[0] += fmt.Sprintf(", all of them: torchx events %s", p.clean(s.Handle))
	}
	for i := range shown {
		lines = append(lines, shown[i].Time.In(p.now.Location()).Format(time.DateTime)+" "+p.clean(shown[i].String()))
	}
	return strings.Join(lines, "\n")
}

// tally counts the replicas by state: "1 FAILED, 999 SUCCEEDED"; "" for a single one.
func (p *statusPage) tally() string {
	count, total := map[spec.State]int{}, 0
	for _, role := range p.status.Roles {
		for i := range role.Replicas {
			count[role.Replicas[i].State]++
			total++
		}
	}
	if total < 2 {
		return ""
	}
	var parts []string
	for _, state := range statesByUrgency {
		if n := count[state]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(parts, ", ")
}

// next returns the command that shows more, if one does.
func (p *statusPage) next() string {
	s, handle := p.status, p.clean(p.status.Handle)
	switch {
	case s.State == spec.Failed && s.FirstFailure != nil && s.FirstFailure.StartedAt != nil:
		return fmt.Sprintf("Output of the failure: torchx log %s/%s/%d", handle,
			p.clean(s.FirstFailure.Role), s.FirstFailure.ID)
	case s.State == spec.Running && p.imported == nil:
		return "Follow the output: torchx log -t " + handle
	case s.State == spec.Failed:
		return "What happened: torchx events " + handle
	}
	return ""
}
