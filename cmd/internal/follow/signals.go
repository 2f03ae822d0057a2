package follow

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"

	"torchx/cmd/internal/program"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

// signals applies signals to the app: the first Ctrl-C cancels it, the second kills it, the
// third ends only this command; a hang-up leaves the app running.
type signals struct {
	app
	leave      context.CancelCauseFunc // ends the command, not the app
	preparing  func() bool             // reports that the app has not been started yet
	explain    func(error)             // prints an error
	work       func() (done func())    // program.Interrupts.Work
	onTerminal bool                    // the app is shown with --tty

	mu        sync.Mutex
	submitted bool
	hungUp    bool
	count     int    // of interrupts
	announced func() // ends what is said about replicas that do not stop

	canceling sync.Mutex
}

// handle is called for each signal.
func (s *signals) handle(sig os.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig == syscall.SIGHUP {
		s.hungUp = true
		if s.submitted {
			s.leaveRunning()
		}
		return
	}
	s.count++
	if s.count > 2 || !s.submitted && s.preparing() {
		s.leave(program.QuietError(spec.ExitCancelled))
		return
	}
	if s.count == 1 {
		s.Line("", fmt.Sprintf("canceling %s (Ctrl-C again kills it)", s.ref.Handle()))
	} else {
		s.Line("", "killing "+s.ref.Handle())
	}
	if s.submitted {
		s.cancel(s.count > 1)
	}
}

// setSubmitted applies signals to the app from now on, and those received during its submission.
func (s *signals) setSubmitted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.submitted = true
	switch {
	case s.hungUp:
		s.leaveRunning()
	case s.count > 0:
		s.cancel(s.count > 1)
	}
}

// interrupted reports whether the user pressed Ctrl-C.
func (s *signals) interrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count > 0
}

// close ends what is said about an app that does not end.
func (s *signals) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopAnnouncing()
}

func (s *signals) stopAnnouncing() {
	if s.announced != nil {
		s.announced()
		s.announced = nil
	}
}

func (s *signals) leaveRunning() {
	reattach := "log -t"
	if s.onTerminal {
		reattach = "attach --tty"
	}
	s.Say("terminal closed, %s keeps running: torchx %s %s", s.ref.Handle(),
		reattach, s.ref.Handle())
	s.leave(program.QuietError(program.ExitHangup))
}

// cancel cancels the app in the background. Requests wait for each other, so that a forced
// one is the last.
func (s *signals) cancel(force bool) {
	done := s.work()
	s.stopAnnouncing()
	if !force {
		s.announced = AnnounceEnding(s.Console, s.runner, s.ref, "Ctrl-C")
	}
	go func() {
		defer done()
		s.canceling.Lock()
		defer s.canceling.Unlock()
		if err := s.runner.Cancel(context.Background(), s.ref, backend.CancelOptions{Force: force}); err != nil {
			s.explain(err)
			s.leave(program.QuietError(spec.ExitCancelled))
			return
		}
		if force {
			_, _ = s.runner.Wait(context.Background(), s.ref) // the command shows the end, if it can
		}
	}()
}
