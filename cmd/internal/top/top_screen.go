package top

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/usage"
)

// topScreen is `top` on a terminal.
type topScreen struct {
	*ui.Console
	sampler *usage.Sampler
	screen  *tty.FullScreen
	order   string
	first   int // row at the top of the screen
	apps    []*usage.App
}

// WatchTop shows the table until q, Ctrl-C or a signal.
func WatchTop(
	ctx context.Context, c *ui.Console, s *usage.Sampler, screen *os.File, order string,
) error {
	return tty.OnFullScreen(c, screen, func(full *tty.FullScreen) error {
		v := &topScreen{Console: c, sampler: s, screen: full, order: order}
		return v.loop(ctx)
	})
}

func (v *topScreen) loop(ctx context.Context) error {
	err := v.refresh(ctx)
	for err == nil {
		var key byte
		var tick bool
		key, tick, err = v.screen.Wait(ctx)
		switch {
		case err != nil || tty.Quits(key):
			return err
		case tick:
			err = v.refresh(ctx)
		default:
			v.key(key)
			sortTop(v.apps, v.order)
			err = v.draw()
		}
	}
	return err
}

// key handles a key.
func (v *topScreen) key(k byte) {
	const escape = 27
	switch k {
	case 'k':
		v.first--
	case 'j':
		v.first++
	case escape: // arrow keys send ESC [ A and so on
		switch v.screen.Sequence() {
		case "[A", "OA":
			v.first--
		case "[B", "OB":
			v.first++
		case "[5~":
			v.first -= v.page()
		case "[6~":
			v.first += v.page()
		case "[H", "OH", "[1~", "[7~":
			v.first = 0
		case "[F", "OF", "[4~", "[8~":
			v.first = math.MaxInt
		}
	default:
		for _, o := range TopOrders {
			if o[0] == k {
				v.order = o
			}
		}
	}
}

// refresh takes a sample and draws it.
func (v *topScreen) refresh(ctx context.Context) error {
	apps, err := v.sampler.Sample(ctx, time.Now())
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	v.apps = apps
	sortTop(v.apps, v.order)
	v.clampFirst()
	v.sampler.ReadLastLines(ctx, v.apps, v.first, min(v.page(), maxTopLines))
	return v.draw()
}

// page returns the number of rows that fit below the two heading lines.
func (v *topScreen) page() int {
	_, height := v.screen.Size()
	return max(1, height-2)
}

func (v *topScreen) clampFirst() {
	rows := 0
	for _, a := range v.apps {
		rows += 1 + len(a.Replicas)
	}
	v.first = max(0, min(v.first, rows-v.page()))
}

// draw redraws the whole screen in one write.
func (v *topScreen) draw() error {
	v.clampFirst()
	width, _ := v.screen.Size()
	var text bytes.Buffer
	tab := topTable(v.apps)
	cutLines(tab, width)
	if err := tab.Write(&text, v.OutStyle); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	lines = append(lines[:1], lines[1+v.first:]...)
	if len(v.apps) == 0 {
		lines = append(lines, "no app is running, and none has ended within the last minute")
	}
	head := fmt.Sprintf("torchx top  %s  %s  by %s (keys: s c m e n, arrows, q)",
		time.Now().Format(time.TimeOnly), ui.Counted(len(v.apps), "app"), v.order)
	head = head[:min(len(head), width)]
	lines = append([]string{v.OutStyle.Paint(ui.AnsiDim, head)}, lines...)
	return v.screen.Draw(lines)
}
