package tty

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
)

const (
	// tailBytes of existing output are printed first: a large screen of colored text.
	tailBytes = 8 << 10
	// maxLag is how many bytes a screen may lag behind the output. More is skipped: a user
	// does not wait for the rest of a flood.
	maxLag = 8 << 20
	// keyTimeout is how long the first detach key waits for the second before it is sent
	// to the program.
	keyTimeout = 500 * time.Millisecond
	// redrawTime is how long the terminal has another size, which makes programs redraw.
	redrawTime = 50 * time.Millisecond
	// resizeInterval is how often input sets the size again: the most recently used client
	// determines it.
	resizeInterval = time.Second
	// maxTypeAhead is how many reads of input are queued for a program that does not read;
	// meanwhile the detach keys still work.
	maxTypeAhead = 4096
)

// SessionConfig configures a session.
type SessionConfig struct {
	Console    *ui.Console
	Out        io.Writer // gets the app's output
	Screen     *Screen   // gets messages
	DetachKeys string    // "" is DefaultDetachKeys
	Handle     string    // the app's handle, for messages
	Attached   bool      // the app has had a client before
	Detach     func()    // called when the detach keys are typed; it ends the session's context
}

// session connects the user's terminal, or piped input, with the terminal of an app.
type session struct {
	SessionConfig
	conn    backend.Terminal
	window  *os.File // determines the size of the app's terminal; nil without a terminal
	input   *os.File // a terminal in raw mode; nil if input is not a terminal
	restore func() error
	resized time.Time

	modes    ScreenModes
	lastByte byte // of the output so far
}

// OutputOptions returns which output of the app a session on out gets.
func OutputOptions(out io.Writer, all bool) backend.TerminalOptions {
	o := backend.TerminalOptions{All: all, Tail: tailBytes}
	if ui.IsTerminal(out) {
		o.Lag = maxLag
	}
	return o
}

// RunSession copies the output of conn and forwards input until the app has ended or ctx is
// canceled. It closes conn.
func RunSession(ctx context.Context, conn backend.Terminal, c SessionConfig) (err error) {
	s := &session{SessionConfig: c, conn: conn, restore: func() error { return nil }}
	s.window = FirstTerminal(c.Out, c.Console.In, c.Console.Out, c.Screen.W)
	defer conn.Close()
	if err := s.takeTerminal(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.restoreScreen()) }()
	ctx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer conn.Close() // ends a blocked write of input
	defer stop()
	s.start(ctx, &workers)
	return s.copyOutput(ctx)
}

// takeTerminal puts the terminal into raw mode, so that every key goes to the app.
func (s *session) takeTerminal() error {
	in, ok := s.Console.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	s.Console.Say("%s detaches and leaves the app running", KeyNames(s.DetachKeys))
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("set up the terminal: %w", err)
	}
	s.input = in
	s.Screen.SetRaw(true)
	s.restore = sync.OnceValue(func() error {
		s.Screen.SetRaw(false)
		return term.Restore(int(in.Fd()), before)
	})
	return nil
}

// restoreScreen resets the screen modes and ends an incomplete line.
func (s *session) restoreScreen() error {
	text := ""
	if ui.IsTerminal(s.Out) {
		text = s.modes.Reset()
	}
	if s.lastByte != '\n' && s.lastByte != 0 {
		text += "\r\n"
	}
	_, _ = io.WriteString(s.Out, text) // the terminal may be closed
	return s.restore()
}

// start starts forwarding input and sizes.
func (s *session) start(ctx context.Context, workers *sync.WaitGroup) {
	if s.window != nil {
		workers.Go(func() { defer s.restoreOnPanic(); s.syncSize(ctx) })
	}
	typed, passed := make(chan []byte), make(chan []byte, 1)
	if s.input != nil {
		passed = make(chan []byte, maxTypeAhead)
	}
	go s.readInput(ctx, typed) // a blocked read ends with the process
	workers.Go(func() { defer s.restoreOnPanic(); s.watchKeys(ctx, typed, passed) })
	workers.Go(func() { defer s.restoreOnPanic(); s.forwardInput(ctx, passed) })
}

// restoreOnPanic restores the terminal before a panic ends the program.
func (s *session) restoreOnPanic() {
	if reason := recover(); reason != nil {
		_ = s.restore()
		panic(reason)
	}
}

// syncSize gives the app's terminal the size of the window.
func (s *session) syncSize(ctx context.Context) {
	resized, stop := Resizes()
	defer stop()
	if size := SizeOf(s.window); s.Attached && size.Rows > 1 {
		// The program draws its screen again only if the size changes.
		_ = s.conn.Resize(backend.TerminalSize{Rows: size.Rows - 1, Cols: size.Cols})
		select {
		case <-time.After(redrawTime):
		case <-ctx.Done():
		}
	}
	for {
		_ = s.conn.Resize(SizeOf(s.window)) // fails if the app has ended
		select {
		case <-ctx.Done():
			return
		case <-resized:
		}
	}
}

func (s *session) readInput(ctx context.Context, typed chan<- []byte) {
	defer close(typed)
	for {
		buf := make([]byte, 4096)
		n, err := s.Console.In.Read(buf)
		if n > 0 {
			select {
			case typed <- buf[:n]:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// watchKeys passes typed input on, up to the detach keys.
func (s *session) watchKeys(ctx context.Context, typed <-chan []byte, passed chan<- []byte) {
	defer close(passed)
	keys, _ := ParseDetachKeys(s.DetachKeys) // the flag was checked
	d := DetachKeys{Keys: keys}
	var timeout <-chan time.Time
	for {
		var p []byte
		open, found := true, false
		select {
		case p, open = <-typed:
			if s.input != nil {
				p, found = d.Feed(p)
			}
		case <-timeout:
			p = d.Flush()
		case <-ctx.Done():
			return
		}
		if timeout = nil; d.Held > 0 {
			timeout = time.After(keyTimeout)
		}
		if !open {
			p = d.Flush()
		}
		if len(p) > 0 {
			select {
			case passed <- p:
			case <-ctx.Done():
				return
			}
		}
		if found {
			s.Detach()
		}
		if found || !open {
			return
		}
	}
}

// forwardInput sends typed input until the app has ended.
func (s *session) forwardInput(ctx context.Context, passed <-chan []byte) {
	for p := range passed {
		if s.input != nil && time.Since(s.resized) > resizeInterval {
			s.resized = time.Now()
			_ = s.conn.Resize(SizeOf(s.window))
		}
		if _, err := s.conn.Write(p); err != nil {
			return
		}
	}
	// An attached client's EOF does not reach the app.
	if ctx.Err() == nil && !s.Attached {
		_ = s.conn.CloseInput()
	}
}

// copyOutput writes the app's output to Out.
func (s *session) copyOutput(ctx context.Context) error {
	attempt := -1
	for {
		o, err := s.conn.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if attempt >= 0 && o.Attempt != attempt {
			s.notice("attempt %d of the replica starts", o.Attempt)
		}
		attempt = o.Attempt
		if o.Skipped > 0 {
			s.notice("%s skipped: see `torchx log %s`", ui.BytesText(o.Skipped), s.Handle)
		}
		s.modes.Observe(o.Data)
		if len(o.Data) > 0 {
			s.lastByte = o.Data[len(o.Data)-1]
		}
		if _, err := s.Out.Write(o.Data); err != nil {
			return fmt.Errorf("read the terminal: %w", err)
		}
	}
}

// notice prints a message on its own line.
func (s *session) notice(format string, args ...any) {
	if s.lastByte != '\n' && s.lastByte != 0 {
		_, _ = io.WriteString(s.Out, "\r\n")
	}
	s.lastByte = '\n'
	s.Console.Say(format, args...)
}
