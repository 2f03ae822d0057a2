//go:build unix

package inside

import (
	"cmp"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"torchx/runtime/backend"
)

const (
	// idleTime is how long a terminal must be silent after the end of its command, if programs
	// that the command left running keep it open.
	idleTime = 100 * time.Millisecond
)

// startOnTerminal starts a command on a pseudo-terminal.
func startOnTerminal(cmd *exec.Cmd, c backend.Command) (finish func() error, err error) {
	master, err := pty.StartWithSize(cmd, windowOf(*c.Terminal))
	if err != nil {
		return nil, err
	}
	if c.Stdin != nil {
		go func() { _, _ = io.Copy(master, c.Stdin) }() // fails if the command has ended
	}
	ended := make(chan struct{})
	var resizing sync.WaitGroup
	resizing.Go(func() {
		for {
			select {
			case s := <-c.Resizes:
				_ = pty.Setsize(master, windowOf(s)) // the same
			case <-ended:
				return
			}
		}
	})
	copied := make(chan error, 1)
	go func() {
		_, err := io.Copy(c.Stdout, master)
		copied <- err
	}()
	return func() error {
		defer master.Close()
		defer resizing.Wait() // it uses the descriptor, which must not be closed meanwhile
		defer close(ended)
		err := cmd.Wait()
		return cmp.Or(err, drain(c.Stdout, master, copied))
	}, nil
}

// drain writes the rest of a terminal's output. It returns the first error of writing.
func drain(w io.Writer, master *os.File, copied <-chan error) error {
	_ = master.SetReadDeadline(time.Now()) // ends io.Copy after what it has read is written
	err := <-copied
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return written(err)
	}
	_ = master.SetReadDeadline(time.Time{})
	buf := make([]byte, 32<<10)
	for hasOutput(master) {
		n, readErr := master.Read(buf)
		if _, err := w.Write(buf[:n]); err != nil {
			return err
		}
		if readErr != nil {
			return written(readErr)
		}
	}
	return nil
}

// written returns nil for EIO, by which Linux reports that all programs have closed the terminal.
func written(err error) error {
	if errors.Is(err, syscall.EIO) {
		return nil
	}
	return err
}

// hasOutput waits up to idleTime for output of a terminal or its end.
func hasOutput(master *os.File) (has bool) {
	conn, err := master.SyscallConn()
	if err != nil {
		return false
	}
	_ = conn.Control(func(fd uintptr) { // fails if it is closed
		polled := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(polled, int(idleTime.Milliseconds()))
		has = n > 0 && err == nil
	})
	return has
}

func windowOf(s backend.TerminalSize) *pty.Winsize { return &pty.Winsize{Rows: s.Rows, Cols: s.Cols} }
