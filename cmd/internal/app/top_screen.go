package app

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/usage"
)

// topInterval is the time between two samples.
const topInterval = time.Second

// ScreenTake switches a terminal to the alternate screen, without a cursor and without wrapping
// of long lines; ScreenGive restores it.
const (
	ScreenTake = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"
	ScreenGive = "\x1b[?7h\x1b[?25h\x1b[?1049l" + ui.AnsiReset
)

// topScreen is `top` on a terminal.
type topScreen struct {
	*ui.Console
	sampler *usage.Sampler
	screen  *os.File
	order   string
	first   int // row at the top of the screen
	apps    []*usage.App
}

// WatchTop shows the table until q, Ctrl-C or a signal.
func WatchTop(ctx context.Context, c *ui.Console, s *usage.Sampler, screen *os.File, order string) (err error) {
	c.Level = ui.LevelError + 1 // messages would damage the screen
	keys := make(chan byte, 64)
	give, err := takeScreen(c.In, screen, keys)
	if err != nil {
		return err
	}
	defer func() {
		if giveErr := give(); err == nil {
			err = giveErr
		}
	}()
	resized, stop := tty.Resizes()
	defer stop()
	v := &topScreen{Console: c, sampler: s, screen: screen, order: order}
	return v.loop(ctx, keys, resized)
}

// takeScreen takes over the terminal and reads keys from it. The caller calls give to restore it.
func takeScreen(input io.Reader, screen *os.File, keys chan<- byte) (give func() error, err error) {
	restore := func() error { return nil }
	if in, ok := input.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return nil, fmt.Errorf("set up the terminal: %w", err)
		}
		restore = func() error { return term.Restore(int(in.Fd()), before) }
		go readKeys(in, keys)
	}
	give = func() error {
		_, err := screen.WriteString(ScreenGive)
		if restoreErr := restore(); restoreErr != nil {
			return restoreErr
		}
		return err
	}
	if _, err := screen.WriteString(ScreenTake); err != nil {
		_ = give() // the first error counts
		return nil, err
	}
	return give, nil
}

// readKeys forwards typed keys until the process ends.
func readKeys(in *os.File, keys chan<- byte) {
	buf := make([]byte, 64)
	for {
		n, err := in.Read(buf)
		for _, k := range buf[:n] {
			keys <- k
		}
		if err != nil {
			return
		}
	}
}

func (v *topScreen) loop(ctx context.Context, keys <-chan byte, resized <-chan os.Signal) error {
	tick := time.NewTicker(topInterval)
	defer tick.Stop()
	if err := v.refresh(ctx); err != nil {
		return err
	}
	for {
		var err error
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			err = v.refresh(ctx)
		case <-resized:
			err = v.draw()
		case k := <-keys:
			if v.key(k, keys) {
				return nil
			}
			sortTop(v.apps, v.order)
			err = v.draw()
		}
		if err != nil {
			return err
		}
	}
}

// key handles a key and reports whether it ends the view.
func (v *topScreen) key(k byte, keys <-chan byte) (quit bool) {
	const ctrlC, ctrlD, escape = 3, 4, 27
	switch k {
	case 'q', 'Q', ctrlC, ctrlD:
		return true
	case 'k':
		v.first--
	case 'j':
		v.first++
	case escape: // arrow keys send ESC [ A and so on
		switch sequence(keys) {
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
	return false
}

// sequence returns the characters after an escape, which the terminal sends together.
func sequence(keys <-chan byte) string {
	var b strings.Builder
	for {
		select {
		case k := <-keys:
			b.WriteByte(k)
			if k >= '@' && k != '[' && k != 'O' || k == '~' {
				return b.String()
			}
		case <-time.After(50 * time.Millisecond):
			return b.String()
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

func (v *topScreen) size() (width, height int) {
	width, height, err := term.GetSize(int(v.screen.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return ui.DefaultWidth, 24
	}
	return width, height
}

// page returns the number of rows that fit below the two heading lines.
func (v *topScreen) page() int {
	_, height := v.size()
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
	width, height := v.size()
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
	head := fmt.Sprintf("torchx top  %s  %s  by %s (keys: s c m e n, arrows, q)", time.Now().Format(time.TimeOnly), ui.Counted(len(v.apps), "app"), v.order)
	head = head[:min(len(head), width)]
	lines = append([]string{v.OutStyle.Paint(ui.AnsiDim, head)}, lines...)
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
	_, err := v.screen.WriteString(b.String())
	return err
}
