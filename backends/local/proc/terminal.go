//go:build unix

package proc

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"torchx/backends/ttypipe"
	"torchx/runtime/backend"
)

// writeTimeout bounds a write to a terminal that accepts no input. After it, the server checks
// whether the replica is still the same.
const writeTimeout = 100 * time.Millisecond

// terminal is the pseudo-terminal of one attempt.
type terminal struct {
	master *os.File // for writing; the drainer has its own descriptor
	slave  *os.File // for polling and resizing; the replica has its own descriptor
	log    *log.Logger
}

// UseTerminal runs the only replica on a pseudo-terminal. Call it before the first Start.
// Finish closes the server.
func (p *Launcher) UseTerminal(s *ttypipe.Server) { p.terminals = s }

// openTerminal creates a pseudo-terminal with a non-blocking master and a blocking slave
// for the replica.
func openTerminal(size backend.TerminalSize) (master, slave int, err error) {
	m, s, err := pty.Open()
	if err != nil {
		return -1, -1, fmt.Errorf("create pseudo-terminal: %w", plain(err))
	}
	defer m.Close()
	defer s.Close()
	if master, err = duplicate(m); err != nil {
		return -1, -1, err
	}
	if slave, err = duplicate(s); err == nil {
		err = errors.Join(unix.SetNonblock(master, true), unix.SetNonblock(slave, false),
			setSize(slave, size))
	}
	if err != nil {
		closeAll(&[2]int{master, slave})
		return -1, -1, fmt.Errorf("create pseudo-terminal: %w", err)
	}
	return master, slave, nil
}

// duplicate returns a copy of the descriptor that Go's poller does not manage.
func duplicate(f *os.File) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	got := -1
	cerr := conn.Control(func(fd uintptr) { got, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	return got, errors.Join(cerr, err)
}

// useTerminal creates the terminal of an attempt's log.
func (l *attemptLog) useTerminal(s *ttypipe.Server, to *log.Logger) error {
	master, slave, err := openTerminal(s.Size())
	if err != nil {
		return err
	}
	l.reads[0], l.writes[0] = master, slave
	writer, err := unix.FcntlInt(uintptr(master), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	slaveCopy, err := unix.FcntlInt(uintptr(slave), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return errors.Join(err, unix.Close(writer))
	}
	s.Use(&terminal{os.NewFile(uintptr(writer), "terminal"), os.NewFile(uintptr(slaveCopy), "terminal"), to})
	return nil
}

// Close closes the terminal of an ended attempt.
func (t *terminal) Close() {
	t.master.Close()
	t.slave.Close()
}

// Resize sets the size. The kernel signals a change to the replica.
func (t *terminal) Resize(size backend.TerminalSize) {
	err := t.onSlave(func(fd int) error { return setSize(fd, size) })
	if err != nil && !errors.Is(err, fs.ErrClosed) {
		t.log.Printf("set the terminal's size: %v", err)
	}
}

func setSize(fd int, size backend.TerminalSize) error {
	return unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: size.Rows, Col: size.Cols})
}

// HasUnread reports whether the replica has unread input, or has ended.
func (t *terminal) HasUnread() (has bool) {
	err := t.onSlave(func(fd int) error {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		has = n > 0 && err == nil
		return nil
	})
	return has || err != nil
}

// onSlave calls f with the descriptor of the slave, unless that is closed.
func (t *terminal) onSlave(f func(fd int) error) error {
	conn, err := t.slave.SyscallConn()
	if err != nil {
		return err
	}
	cerr := conn.Control(func(fd uintptr) { err = f(int(fd)) })
	return cmp.Or(cerr, err)
}

// Write writes for up to writeTimeout and returns the number of bytes written.
func (t *terminal) Write(p []byte) (int, error) {
	_ = t.master.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails if closed, as Write then does
	n, err := t.master.Write(p)
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, fs.ErrClosed):
	case errors.Is(err, unix.EAGAIN): // on systems without polling of terminals
		time.Sleep(time.Millisecond)
	default:
		t.log.Printf("forward input: %v", err)
		n = len(p) // it would fail again
	}
	return n, nil
}
