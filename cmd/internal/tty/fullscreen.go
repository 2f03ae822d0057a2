package tty

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"torchx/cmd/internal/ui"
)

// ScreenTake switches a terminal to the alternate screen, without a cursor and without wrapping
// of long lines; ScreenGive restores it.
const (
	ScreenTake = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[H\x1b[2J"
	ScreenGive = "\x1b[?7h\x1b[?25h\x1b[?1049l" + ui.AnsiReset
)

// drawInterval is the time between two drawings.
const drawInterval = time.Second

// FullScreen is a view that takes a whole terminal and is redrawn, as `top` does.
type FullScreen struct {
	Keys    <-chan byte      // typed keys
	Ticks   <-chan time.Time // each drawInterval
	Resized <-chan os.Signal // the size has changed
	screen  *os.File
	restore func() error
}

// OnFullScreen calls show with the whole terminal. It restores the terminal afterwards, and drops
// messages of c until then: they would damage the screen.
func OnFullScreen(c *ui.Console, screen *os.File, show func(*FullScreen) error) (err error) {
	level := c.Level
	c.Level = ui.LevelError + 1
	defer func() { c.Level = level }()
	full, err := takeFullScreen(c.In, screen)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, full.give()) }() // also after a panic
	resized, stop := Resizes()
	defer stop()
	tick := time.NewTicker(drawInterval)
	defer tick.Stop()
	full.Ticks, full.Resized = tick.C, resized
	return show(full)
}

// Wait returns when the view must be drawn again: with a typed key, at a tick, or, with neither,
// because the size has changed. Errors: the cause of the end of ctx.
func (s *FullScreen) Wait(ctx context.Context) (key byte, tick bool, err error) {
	select {
	case <-ctx.Done():
		return 0, false, context.Cause(ctx)
	case <-s.Ticks:
		return 0, true, nil
	case <-s.Resized:
		return 0, false, nil
	case key = <-s.Keys:
		return key, false, nil
	}
}

// Quits reports whether a key ends a view: q, Ctrl-C or Ctrl-D.
func Quits(key byte) bool { return strings.IndexByte("qQ\x03\x04", key) >= 0 }

// takeFullScreen takes over the terminal and reads keys from it.
func takeFullScreen(input io.Reader, screen *os.File) (*FullScreen, error) {
	keys := make(chan byte, 64)
	s := &FullScreen{Keys: keys, screen: screen, restore: func() error { return nil }}
	if in, ok := input.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		before, err := term.MakeRaw(int(in.Fd()))
		if err != nil {
			return nil, fmt.Errorf("set up the terminal: %w", err)
		}
		s.restore = func() error { return term.Restore(int(in.Fd()), before) }
		go readKeys(in, keys)
	}
	if _, err := screen.WriteString(ScreenTake); err != nil {
		_ = s.give() // the first error counts
		return nil, err
	}
	return s, nil
}

// give restores the terminal.
func (s *FullScreen) give() error {
	_, err := s.screen.WriteString(ScreenGive)
	if restoreErr := s.restore(); restoreErr != nil {
		return restoreErr
	}
	return err
}

// Size returns the columns and lines of the terminal.
func (s *FullScreen) Size() (width, height int) {
	width, height, err := term.GetSize(int(s.screen.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return ui.DefaultWidth, 24
	}
	return width, height
}

// Draw redraws the whole screen in one write. It drops lines that do not fit.
func (s *FullScreen) Draw(lines []string) error {
	if _, height := s.Size(); len(lines) > height {
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
	_, err := s.screen.WriteString(b.String())
	return err
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

// Sequence returns the characters after an escape, which the terminal sends together: "[A" for
// the upper arrow key.
func (s *FullScreen) Sequence() string {
	var b strings.Builder
	for {
		select {
		case k := <-s.Keys:
			b.WriteByte(k)
			if k >= '@' && k != '[' && k != 'O' || k == '~' {
				return b.String()
			}
		case <-time.After(50 * time.Millisecond):
			return b.String()
		}
	}
}
