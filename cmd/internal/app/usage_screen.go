package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/usage"
)

// watch shows the table on the whole screen until the app ends, q or Ctrl-C. It returns what is known
// then.
func (v *usageView) watch(ctx context.Context, screen *os.File, rec *usage.Record) (last *usage.Record, err error) {
	level := v.f.Level
	v.f.Level = ui.LevelError + 1 // messages would damage the screen
	defer func() { v.f.Level = level }()
	keys := make(chan byte, 64)
	give, err := takeScreen(v.f.In, screen, keys)
	if err != nil {
		return rec, err
	}
	defer func() {
		if giveErr := give(); err == nil {
			err = giveErr
		}
	}()
	resized, stop := tty.Resizes()
	defer stop()
	tick := time.NewTicker(usageInterval)
	defer tick.Stop()
	for !rec.Status.State.Terminal() {
		if err := v.draw(screen, rec); err != nil {
			return rec, err
		}
		select {
		case <-ctx.Done():
			return rec, context.Cause(ctx)
		case <-resized:
		case <-tick.C:
			next, err := v.read(ctx)
			if err != nil {
				return rec, err
			}
			rec = next
		case k := <-keys:
			const ctrlC, ctrlD = 3, 4
			if k == 'q' || k == 'Q' || k == ctrlC || k == ctrlD {
				return rec, nil
			}
		}
	}
	return rec, nil
}

// draw redraws the screen in one write. It leaves out what does not fit.
func (v *usageView) draw(screen *os.File, rec *usage.Record) error {
	width, height, err := term.GetSize(int(screen.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		width, height = ui.DefaultWidth, 24
	}
	head := fmt.Sprintf("torchx usage  %s  %s  %s (key: q)", time.Now().Format(time.TimeOnly), v.ref.ID, rec.Status.State)
	lines := []string{v.f.OutStyle.Paint(ui.AnsiDim, ui.CutText(ui.OneLine(head), width, "…"))}
	lines = append(lines, strings.Split(strings.TrimSuffix(v.text(rec, width), "\n"), "\n")...)
	if len(lines) > height {
		lines = lines[:height]
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[2K" + l)
	}
	b.WriteString("\x1b[J")
	_, err = screen.WriteString(b.String())
	return err
}
