package top

import (
	"bytes"
	"context"
	"strings"

	"torchx/cmd/internal/follow"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/usage"
)

// logTail is the number of lines of each replica that a log shows; `torchx log` has all.
const logTail = 1000

// logPage shows the last lines of a row's log, and new ones while its end is in view.
type logPage struct {
	title string
	read  func(ctx context.Context) ([]string, error)
	text  []string
	back  int // lines between the end and the bottom of the screen
	err   error
}

func (p *logPage) refresh(ctx context.Context) {
	if p.back > 0 {
		return // the lines in view stay
	}
	if text, err := p.read(ctx); ctx.Err() == nil {
		p.text, p.err = text, err
	}
}

// key scrolls, or reports that the page is closed.
func (p *logPage) key(k byte, move int) (closed bool) {
	p.back = max(0, min(p.back-move, len(p.text)-1))
	return move == 0 && strings.IndexByte("qQ\x1b\r\n", k) >= 0
}

// lines returns the screen: a heading, a page of lines, and the keys.
func (p *logPage) lines(width, page int, style ui.Style) []string {
	end := max(0, len(p.text)-p.back)
	lines := []string{style.Paint(ui.AnsiDim, ui.CutText("log of "+p.title, width, "…"))}
	for _, l := range p.text[max(0, end-page-1):end] {
		lines = append(lines, ui.CutText(l, width, "…"))
	}
	if p.err != nil {
		lines = append(lines[:1], ui.CutText(p.err.Error(), width, "…"))
	}
	for len(lines) < page+2 {
		lines = append(lines, "")
	}
	return append(lines, style.Paint(ui.AnsiDim, ui.CutText("↑↓ scroll  end newest lines  q back", width, "")))
}

// actions are what the keys do with apps.
type actions struct {
	console *ui.Console
	runner  *runner.Runner
}

// reader returns a function that reads the last lines of a row's log, as a terminal would show them.
func (a actions) reader(r row) func(ctx context.Context) ([]string, error) {
	q := follow.LogRequest{Target: follow.LogTarget{Ref: r.app.AppKey}, Read: backend.LogOptions{Tail: logTail}, Prefix: true}
	if r.replica != nil {
		q.Target.Role, q.Target.IDs, q.Prefix = r.replica.Role, []int{r.replica.ID}, false
	}
	return func(ctx context.Context) (lines []string, err error) {
		var out bytes.Buffer
		_, err = follow.LogPrinter{Console: a.console, Runner: a.runner, Out: &out}.Print(ctx, q)
		for line := range strings.Lines(out.String()) {
			line = strings.TrimRight(line, "\r\n")
			lines = append(lines, ui.OneLine(line[strings.LastIndexByte(line, '\r')+1:]))
		}
		return lines, err
	}
}

// cancel requests the end of an app, and returns what to tell.
func (a actions) cancel(ctx context.Context, app *usage.App) string {
	if err := a.runner.Cancel(ctx, app.AppKey, backend.CancelOptions{}); err != nil {
		return "error: " + err.Error()
	}
	return "canceling " + app.Handle()
}
