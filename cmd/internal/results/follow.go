package results

import (
	"context"
	"fmt"
	"os"
	"time"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/metrics"
)

// maxRefreshes is how often a live view is drawn after the end of an app, for its last values.
const maxRefreshes = 5

// follow shows the page until all apps have ended, then prints it. Without a terminal it only
// waits.
func (v *view) follow(ctx context.Context) error {
	screen, isFile := v.Out.(*os.File)
	if !isFile || !ui.IsTerminal(screen) || v.Env.Get("TERM") == "dumb" {
		for _, a := range v.apps {
			if _, err := v.runner.Wait(ctx, a.Ref); err != nil {
				return err
			}
		}
	} else if quit, err := v.watch(ctx, screen); quit || err != nil {
		return err
	}
	if err := v.reload(); err != nil {
		return err
	}
	if err := v.checkNames(); err != nil {
		return err
	}
	v.explainIssues()
	return v.print(ctx)
}

// reload reads the series again.
func (v *view) reload() error {
	for _, a := range v.apps {
		if err := v.load(a); err != nil {
			return err
		}
	}
	return nil
}

// watch redraws the screen until the apps have ended; quit is true if the user ended it.
func (v *view) watch(ctx context.Context, screen *os.File) (quit bool, err error) {
	err = tty.OnFullScreen(v.Console, screen, func(full *tty.FullScreen) (err error) {
		quit, err = v.loop(ctx, full)
		return err
	})
	return quit, err
}

func (v *view) loop(ctx context.Context, full *tty.FullScreen) (quit bool, err error) {
	for after := 0; after <= maxRefreshes; {
		ended, complete := v.ended(ctx)
		if ended && complete {
			return false, nil
		}
		if ended {
			after++
		}
		if err := v.draw(full); err != nil {
			return false, err
		}
		key, _, err := full.Wait(ctx)
		if err != nil || tty.Quits(key) {
			return err == nil, err
		}
	}
	return false, nil
}

// draw reads the metrics and draws the page.
func (v *view) draw(full *tty.FullScreen) error {
	if err := v.reload(); err != nil {
		return err
	}
	width, height := full.Size()
	width = min(max(width, minWidth), maxWidth)
	head := fmt.Sprintf("torchx metrics  %s  %s (q quits)",
		time.Now().Format(time.TimeOnly), v.title())
	lines := []string{v.OutStyle.Paint(ui.AnsiDim, ui.CutText(head, width, "…")), ""}
	if !v.hasMetrics() {
		return full.Draw(append(lines, "no metrics yet"))
	}
	page, err := v.page(width, height-len(lines), true, true)
	if err != nil {
		return err
	}
	return full.Draw(append(lines, page...))
}

func (v *view) title() string {
	if len(v.apps) == 1 {
		return v.apps[0].ID
	}
	return ui.Counted(len(v.apps), "app")
}

// ended reports whether all apps have ended and whether all their metrics are in their stores.
func (v *view) ended(ctx context.Context) (ended, complete bool) {
	complete = true
	for _, a := range v.apps {
		s, err := v.runner.Status(ctx, a.Ref)
		if err != nil || !s.State.Terminal() {
			return false, false
		}
		done, _ := metrics.Complete(a.dir) // the final page reports an error
		complete = complete && done
	}
	return true, complete
}
