package follow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/tty"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

const (
	// ttyTail is how much of what is there an `attach --tty` shows: a large screen
	// full of text with colours.
	ttyTail = 8 << 10
	// ttyLag is how far a screen may be behind. Someone who ends a flood does not
	// want to look at the rest of it.
	ttyLag = 8 << 20
	// keyWait is how long a first detach key waits for the second before it is
	// the program's.
	keyWait = 500 * time.Millisecond
	// redrawWait is how long a window has another size to have a program draw it anew.
	redrawWait = 50 * time.Millisecond
	// sizeAge is after what time input brings the size along again: the size of the
	// client that was used last holds.
	sizeAge = time.Second
	// typeAhead is how many pieces of input wait for a program that does not read,
	// while the detach keys still work.
	typeAhead = 4096
)

// TtyOptions ask for a terminal.
type TtyOptions struct {
	On   bool
	keys string // "": the default
}

func (o TtyOptions) Check(command string) error {
	if !o.On && o.keys != "" {
		return program.Usagef(command, "--detach-keys goes with --tty only")
	}
	if _, err := tty.ParseDetachKeys(o.keys); err != nil {
		return program.Usagef(command, "--detach-keys: %v", err)
	}
	return nil
}

// CheckTerminal refuses what cannot run on a terminal.
func CheckTerminal(t *program.Factory, command string, p *runner.Planned) error {
	r, err := t.Planner()
	if err != nil {
		return err
	}
	err = r.CheckTerminal(p)
	if errors.Is(err, runner.ErrManyReplicas) {
		return program.Usagef(command, "%v", err)
	}
	return err
}

// ttySession is somebody who sits at the terminal of an app.
type ttySession struct {
	*Follower
	conn    backend.Terminal
	window  *os.File // whose size the app's terminal has; nil: there is none
	input   *os.File // is a terminal in raw mode; nil: it is none
	out     io.Writer
	options TtyOptions
	late    bool // attached to what runs, not its first client

	modes    tty.ScreenModes
	lastByte byte
	sized    time.Time
	restore  func() error
}

// sit shows the output and passes input on until the app has ended, or the user
// leaves it: the context's cause tells then.
func (f *Follower) sit(ctx context.Context, out io.Writer, o TtyOptions, show backend.TerminalOptions, late bool) (err error) {
	s := &ttySession{Follower: f, out: out, options: o, late: late}
	s.window = tty.FirstTerminal(out, f.In, f.Out, f.screen.W)
	if ui.IsTerminal(out) {
		show.Lag = ttyLag
	}
	if s.conn, err = f.Runner.OpenTerminal(ctx, f.Ref, show); err != nil {
		return err
	}
	defer s.conn.Close()
	if err := s.takeTerminal(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.giveBack()) }()
	ctx, stop := context.WithCancel(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer s.conn.Close() // nobody waits for the app any more
	defer stop()
	s.start(ctx, &others)
	return s.copyOutput(ctx)
}

// takeTerminal has every key typed go to the app.
func (s *ttySession) takeTerminal() error {
	s.restore = func() error { return nil }
	in, ok := s.In.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		return nil
	}
	s.Say("%s detaches, the app goes on then", tty.KeyNames(s.options.keys))
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return fmt.Errorf("set the terminal up: %w", err)
	}
	s.input = in
	s.screen.SetRaw(true)
	s.restore = sync.OnceValue(func() error {
		s.screen.SetRaw(false)
		return term.Restore(int(in.Fd()), before)
	})
	return nil
}

// giveBack leaves the screen as the shell expects it.
func (s *ttySession) giveBack() error {
	text := ""
	if ui.IsTerminal(s.out) {
		text = s.modes.Undo()
	}
	if s.lastByte != '\n' && s.lastByte != 0 {
		text += "\r\n"
	}
	_, _ = io.WriteString(s.out, text) // it may be gone
	return s.restore()
}

// start begins what goes on beside the output.
func (s *ttySession) start(ctx context.Context, others *sync.WaitGroup) {
	if s.window != nil {
		others.Go(func() { defer s.onPanic(); s.keepSize(ctx) })
	}
	typed, passed := make(chan []byte), make(chan []byte, 1)
	if s.input != nil {
		passed = make(chan []byte, typeAhead)
	}
	go s.readInput(ctx, typed) // it may never return: the process ends it
	others.Go(func() { defer s.onPanic(); s.watchKeys(ctx, typed, passed) })
	others.Go(func() { defer s.onPanic(); s.passInput(ctx, passed) })
}

// onPanic gives the terminal back before the program dies of a defect.
func (s *ttySession) onPanic() {
	if reason := recover(); reason != nil {
		_ = s.restore()
		panic(reason)
	}
}

// keepSize has the app's terminal follow the window.
func (s *ttySession) keepSize(ctx context.Context) {
	resized, stop := tty.Resizes()
	defer stop()
	if size := s.size(); s.late && size.Rows > 1 {
		// The system tells the program of a change only, and it is to draw its screen.
		_ = s.conn.Resize(backend.TerminalSize{Rows: size.Rows - 1, Cols: size.Cols})
		select {
		case <-time.After(redrawWait):
		case <-ctx.Done():
		}
	}
	for {
		_ = s.conn.Resize(s.size()) // an app that has ended needs none
		select {
		case <-ctx.Done():
			return
		case <-resized:
		}
	}
}

func (s *ttySession) size() backend.TerminalSize { return tty.SizeOf(s.window) }

func (s *ttySession) readInput(ctx context.Context, typed chan<- []byte) {
	defer close(typed)
	for {
		buf := make([]byte, 4096)
		n, err := s.In.Read(buf)
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

// watchKeys looks for the detach keys in what a terminal sends.
func (s *ttySession) watchKeys(ctx context.Context, typed <-chan []byte, passed chan<- []byte) {
	defer close(passed)
	keys, _ := tty.ParseDetachKeys(s.options.keys) // it was checked
	d := tty.DetachKeys{Keys: keys}
	var wait <-chan time.Time
	for {
		var p []byte
		open, found := true, false
		select {
		case p, open = <-typed:
			if s.input != nil {
				p, found = d.Feed(p)
			}
		case <-wait:
			p = d.Flush()
		case <-ctx.Done():
			return
		}
		if wait = nil; d.Held > 0 {
			wait = time.After(keyWait)
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
			s.leave(errDetached)
		}
		if found || !open {
			return
		}
	}
}

// passInput sends what was typed. It stops when the app has ended.
func (s *ttySession) passInput(ctx context.Context, passed <-chan []byte) {
	for p := range passed {
		if s.input != nil && time.Since(s.sized) > sizeAge {
			s.sized = time.Now()
			_ = s.conn.Resize(s.size())
		}
		if _, err := s.conn.Write(p); err != nil {
			return
		}
	}
	// Who attaches and has nothing more to say leaves the app as it is.
	if ctx.Err() == nil && !s.late {
		_ = s.conn.CloseInput()
	}
}

// copyOutput shows what the app writes.
func (s *ttySession) copyOutput(ctx context.Context) error {
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
			s.notice("attempt %d of the replica begins", o.Attempt)
		}
		attempt = o.Attempt
		if o.Skipped > 0 {
			s.notice("%s are not shown here: torchx log %s", ui.BytesText(o.Skipped), s.Ref.Handle())
		}
		s.modes.See(o.Data)
		if len(o.Data) > 0 {
			s.lastByte = o.Data[len(o.Data)-1]
		}
		if _, err := s.out.Write(o.Data); program.IsBrokenPipe(err) {
			return program.QuietError(program.ExitPipe)
		} else if err != nil {
			return fmt.Errorf("show the terminal: %w", err)
		}
	}
}

// notice says something in a line of its own.
func (s *ttySession) notice(format string, args ...any) {
	if s.lastByte != '\n' && s.lastByte != 0 {
		_, _ = io.WriteString(s.out, "\r\n")
	}
	s.lastByte = '\n'
	s.Say(format, args...)
}

// errDetached is the cause of a context that the detach keys ended.
var errDetached = fmt.Errorf("detached: %w", program.QuietError(program.ExitOK))

// errSignalled is the same of one that a signal to an `attach --tty` ended.
var errSignalled = fmt.Errorf("detached by a signal: %w", program.QuietError(spec.ExitCancelled))

func TtyFlag(o *TtyOptions, usage string) cli.Flag {
	return &cli.BoolFlag{Name: "tty", Usage: usage, Destination: &o.On}
}

func DetachKeysFlag(o *TtyOptions) cli.Flag {
	return &cli.StringFlag{
		Name: "detach-keys", Destination: &o.keys,
		Usage: "with --tty: the `KEYS` that leave the app, as docker writes them (default: " + tty.DefaultDetachKeys + ")",
	}
}

// prepareTerminal checks that a plan can run on a terminal and says how large it is.
func prepareTerminal(t *program.Factory, p *runner.Planned, detached bool) error {
	if err := CheckTerminal(t, "run", p); err != nil {
		return err
	}
	size := tty.DetachedSize
	if !detached {
		size = tty.SizeOf(tty.FirstTerminal(t.Err, t.In, t.Out))
	}
	p.Plan.TTY = &size
	return nil
}

// shareScreen returns a factory whose messages go where the output of the app's
// terminal goes, too.
func shareScreen(f *program.Factory) (*tty.TtyScreen, *program.Factory) {
	s := &tty.TtyScreen{W: f.Err}
	return s, f.With(func(c *program.Factory) { c.Err = s })
}

// left says what became of an app whose terminal was left.
func (f *Follower) left(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	if err == nil || cause == nil {
		return err
	}
	if !errors.Is(cause, errDetached) && !errors.Is(cause, errSignalled) {
		return cause
	}
	f.Say("detached, it goes on: torchx attach --tty %s", f.Ref.Handle())
	return cause
}

// explainEnd says how an app failed whose output the user has just seen.
func (f *Follower) explainEnd(s *spec.Status) {
	why := s.Msg
	if s.FirstFailure != nil {
		why = ui.HowItEnded(s.FirstFailure)
	}
	f.SayError(fmt.Sprintf("%s FAILED: %s", f.Ref.Handle(), why))
}
