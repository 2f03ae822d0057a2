package top

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/runner"
	"torchx/runtime/usage"
)

// topScreen is `top` on a terminal.
type topScreen struct {
	*ui.Console
	actions
	sampler  *usage.Sampler
	screen   *tty.FullScreen
	order    string
	apps     []*usage.App
	selected selection
	filter   filter
	question *row     // "cancel it?" is asked; nil: no question
	log      *logPage // shown instead of the table; nil: the table
	notice   string   // result of the last key
	leave    string   // handle to attach to after the screen
}

// WatchTop shows the table until q, Ctrl-C or a signal. It returns the handle of an app to attach
// to, "" for none.
func WatchTop(
	ctx context.Context, c *ui.Console, r *runner.Runner, screen *os.File, order string,
) (attach string, err error) {
	err = tty.OnFullScreen(c, screen, func(full *tty.FullScreen) error {
		v := &topScreen{Console: c, actions: actions{c, r}, sampler: usage.NewSampler(r), screen: full, order: order}
		err := v.loop(ctx)
		attach = v.leave
		return err
	})
	return attach, err
}

func (v *topScreen) loop(ctx context.Context) error {
	err := v.refresh(ctx)
	for err == nil {
		var key byte
		var tick bool
		key, tick, err = v.screen.Wait(ctx)
		switch {
		case err != nil:
			return err
		case tick:
			err = v.refresh(ctx)
		case key == 0: // the size has changed
			err = v.draw()
		case v.ends(key):
			return nil
		default:
			if v.key(ctx, key); v.leave != "" {
				return nil
			}
			sortTop(v.apps, v.order)
			err = v.draw()
		}
	}
	return err
}

// ends reports whether a key ends the screen: q is text of a filter, and closes a log.
func (v *topScreen) ends(key byte) bool {
	isPrinted := key >= ' '
	return tty.Quits(key) && (!isPrinted || !v.filter.typing && v.log == nil)
}

// refresh takes a sample and draws it.
func (v *topScreen) refresh(ctx context.Context) error {
	if v.log != nil {
		v.log.refresh(ctx)
		return v.draw()
	}
	apps, err := v.sampler.Sample(ctx, time.Now())
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	v.apps = apps
	sortTop(v.apps, v.order)
	v.selected.move(v.rows(), 0, v.page())
	v.sampler.ReadLastLines(ctx, v.shown(), v.selected.first, min(v.page(), maxTopLines))
	return v.draw()
}

// shown returns the apps that the filter leaves.
func (v *topScreen) shown() []*usage.App { return v.filter.apply(v.apps) }

func (v *topScreen) rows() []row { return rowsOf(v.shown()) }

// page returns the number of rows that fit between the two heading lines and the keys.
func (v *topScreen) page() int {
	_, height := v.screen.Size()
	return max(1, height-3)
}

// draw redraws the whole screen in one write.
func (v *topScreen) draw() error {
	width, _ := v.screen.Size()
	if v.log != nil {
		return v.screen.Draw(v.log.lines(width, v.page(), v.OutStyle))
	}
	v.selected.move(v.rows(), 0, v.page())
	lines, err := v.table(width)
	if err != nil {
		return err
	}
	head := fmt.Sprintf("torchx top  %s  %s  by %s", time.Now().Format(time.TimeOnly), ui.Counted(len(v.shown()), "app"), v.order)
	if v.filter.text != "" {
		head += "  with " + v.filter.text
	}
	lines = append([]string{v.OutStyle.Paint(ui.AnsiDim, ui.CutText(head, width, ""))}, lines...)
	for len(lines) < v.page()+2 {
		lines = append(lines, "")
	}
	return v.screen.Draw(append(lines[:v.page()+2], ui.CutText(v.foot(), width, "…")))
}

// table returns the heading and the rows of a page, the selected one in reverse.
func (v *topScreen) table(width int) ([]string, error) {
	apps := v.shown()
	if len(apps) == 0 {
		return []string{"", v.filter.emptyText()}, nil
	}
	styled, err := tableLines(apps, width, v.OutStyle)
	if err != nil {
		return nil, err
	}
	plain, err := tableLines(apps, width, ui.Style{})
	if err != nil {
		return nil, err
	}
	const ansiReverse = "\x1b[7m"
	at := 1 + v.selected.at
	styled[at] = ansiReverse + plain[at] + strings.Repeat(" ", max(0, width-ui.TextWidth(plain[at]))) + ui.AnsiReset
	return append(styled[:1], styled[1+v.selected.first:]...), nil
}

func tableLines(apps []*usage.App, width int, style ui.Style) ([]string, error) {
	tab := topTable(apps)
	cutLines(tab, width)
	var text bytes.Buffer
	if err := tab.Write(&text, style); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n"), nil
}

// foot returns the last line: a question, the filter that is typed, a notice, or the keys.
func (v *topScreen) foot() string {
	switch {
	case v.question != nil:
		return "cancel " + v.question.app.Handle() + "? y cancels, any other key does not"
	case v.filter.typing:
		return "filter: " + v.filter.text + "_   (enter keeps it, esc clears it)"
	case v.notice != "":
		return v.notice
	}
	return v.OutStyle.Paint(ui.AnsiDim, "↑↓ select  enter log  a attach  x cancel  / filter  sort s c m e n  q quit")
}
