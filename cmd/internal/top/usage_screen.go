package top

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/usage"
)

// watch shows the table on the whole screen until the app ends, q or Ctrl-C. It returns what is
// known then.
func (v *usageView) watch(
	ctx context.Context, screen *os.File, rec *usage.Record,
) (last *usage.Record, err error) {
	last = rec
	err = tty.OnFullScreen(v.f.Console, screen, func(full *tty.FullScreen) (err error) {
		last, err = v.loop(ctx, full, rec)
		return err
	})
	return last, err
}

func (v *usageView) loop(
	ctx context.Context, full *tty.FullScreen, rec *usage.Record,
) (*usage.Record, error) {
	for !rec.Status.State.Terminal() {
		if err := v.draw(full, rec); err != nil {
			return rec, err
		}
		key, tick, err := full.Wait(ctx)
		if err != nil || tty.Quits(key) {
			return rec, err
		}
		if tick {
			next, err := v.read(ctx)
			if err != nil {
				return rec, err
			}
			rec = next
		}
	}
	return rec, nil
}

// draw redraws the screen.
func (v *usageView) draw(full *tty.FullScreen, rec *usage.Record) error {
	width, _ := full.Size()
	head := fmt.Sprintf("torchx usage  %s  %s  %s (key: q)", time.Now().Format(time.TimeOnly),
		v.ref.ID, rec.Status.State)
	lines := []string{v.f.OutStyle.Paint(ui.AnsiDim, ui.CutText(ui.OneLine(head), width, "…"))}
	return full.Draw(append(lines, strings.Split(strings.TrimSuffix(v.text(rec, width), "\n"), "\n")...))
}
