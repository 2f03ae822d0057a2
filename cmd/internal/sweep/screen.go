package sweep

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// liveScreen is a sweep on a terminal.
type liveScreen struct {
	*view
	full *tty.FullScreen

	mu   sync.Mutex
	last *sweep.Snapshot
}

// onScreen shows a table of trials on the whole terminal until the sweep has ended.
func (v *view) onScreen(ctx context.Context, file *os.File) error {
	v.held.hold()
	defer v.held.release()
	console := v.Console.Clone() // its messages are dropped; those of others are held back
	return tty.OnFullScreen(console, file, func(full *tty.FullScreen) error {
		l := &liveScreen{view: v, full: full}
		ctx, stop := context.WithCancel(ctx)
		var reading sync.WaitGroup
		reading.Go(func() { l.react(ctx) })
		defer reading.Wait()
		defer stop()
		return v.each(ctx, func(s *sweep.Snapshot) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.last = s
			return l.draw()
		})
	})
}

// react handles keys, draws again after a change of the size, and shows messages and the time.
func (l *liveScreen) react(ctx context.Context) {
	const ctrlC = 3
	for {
		select {
		case <-ctx.Done():
			return
		case k := <-l.full.Keys:
			switch k {
			case ctrlC:
				l.Signal(os.Interrupt)
			case 'q', 'Q':
				l.Detach()
			}
			continue
		case <-l.full.Resized:
		case <-l.held.news:
		case <-l.full.Ticks:
		}
		l.mu.Lock()
		_ = l.draw() // the next snapshot reports an error
		l.mu.Unlock()
	}
}

// draw draws the last snapshot.
func (l *liveScreen) draw() error {
	if l.last == nil {
		return nil
	}
	width, height := l.full.Size()
	return l.full.Draw(l.lines(l.last, width, height, time.Now()))
}

// fixedLines are the lines around the rows of the table: title, progress, header and message.
const fixedLines = 4

// lines returns at most height lines of at most width columns.
func (l *liveScreen) lines(s *sweep.Snapshot, width, height int, now time.Time) []string {
	style := l.Console.ErrStyle
	title := fmt.Sprintf("torchx sweep  %s  %s  (q detaches, Ctrl-C cancels)",
		now.Format(time.TimeOnly), ui.OneLine(l.Ref.ID))
	lines := []string{
		style.Paint(ui.AnsiDim, ui.CutText(title, width, "…")),
		style.Paint(ui.AnsiBold, ui.CutText(progressText(s, now), width, "…")),
	}
	shown := liveOrder(s)
	rows := max(0, height-fixedLines)
	more := len(shown) - rows
	if more > 0 {
		shown = shown[:max(0, rows-1)]
		more = len(s.Trials) - len(shown)
	}
	if rows > 0 {
		lines = append(lines, l.tableLines(s, shown, width, now)...)
	}
	if more > 0 {
		lines = append(lines, style.Paint(ui.AnsiDim, ui.CutText(ui.Counted(more, "more trial"), width, "…")))
	}
	if message := l.held.last(); message != "" {
		for len(lines) < height-1 {
			lines = append(lines, "")
		}
		lines = append(lines[:max(0, min(len(lines), height-1))], ui.CutText(message, width, "…"))
	}
	return lines[:min(len(lines), height)]
}

func (l *liveScreen) tableLines(s *sweep.Snapshot, shown []int, width int, now time.Time) []string {
	tab := ui.NewTrialTable(l.Console, s, shown, now)
	tab.Fit(width)
	var text bytes.Buffer
	_ = tab.Write(&text, l.Console.ErrStyle) // a buffer cannot fail
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
}

// liveOrder returns the trials that run, then those that have ended as in the result, then those
// that wait.
func liveOrder(s *sweep.Snapshot) []int {
	class := func(t *sweep.TrialStatus) int {
		switch {
		case t.State.Terminal():
			return 1
		case t.State == spec.Pending && t.App.ID == "":
			return 2
		}
		return 0
	}
	order := sweep.Ranked(s)
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := class(&s.Trials[i]), class(&s.Trials[j])
		if a == b && a == 0 {
			return i - j
		}
		return a - b
	})
	return order
}
