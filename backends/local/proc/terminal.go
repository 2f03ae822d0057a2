//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"torchx/backends/local/ttypipe"
)

const (
	// maxQueue bounds the input that waits for the replica; then the FIFO fills,
	// and then clients wait.
	maxQueue = 64 << 10
	// writeWait is how long a write to a terminal that takes nothing is tried before
	// it is made sure that the replica is still the same.
	writeWait = 100 * time.Millisecond
	// endPauseFirst and endPauseMax are between two ends of file.
	endPauseFirst = 50 * time.Millisecond
	endPauseMax   = 2 * time.Second
	// endOfFile is the character that a terminal takes for the end of the input.
	endOfFile = 0x04
)

// terminals gives each attempt of the only replica a pseudo-terminal of its own
// and passes on to it what clients send. What no attempt has taken is the next one's.
type terminals struct {
	input *ttypipe.Listener
	log   *log.Logger

	mu      sync.Mutex
	changed *sync.Cond
	size    unix.Winsize
	current *terminal // nil between two attempts
	queue   []byte
	ended   bool // the client has no more input
	closed  bool
}

// terminal is that of one attempt.
type terminal struct {
	master *os.File // to write to; the drainer has its own
	slave  int      // to ask and to set; the replica has its own
}

// UseTerminal runs the only replica on a pseudo-terminal. It is called before the
// first Start; Finish closes the input.
func (p *Launcher) UseTerminal(rows, cols uint16, input *ttypipe.Listener) {
	t := &terminals{input: input, log: p.log, size: unix.Winsize{Row: rows, Col: cols}}
	t.changed = sync.NewCond(&t.mu)
	p.terminals = t
	go t.listen()
	go t.forward()
}

// openTerminal makes a pseudo-terminal: an end to read that does not block, and
// one for the replica that does.
func openTerminal(size unix.Winsize) (master, slave int, err error) {
	m, s, err := pty.Open()
	if err != nil {
		return -1, -1, fmt.Errorf("make a pseudo-terminal: %w", plain(err))
	}
	defer m.Close()
	defer s.Close()
	if master, err = duplicate(m); err != nil {
		return -1, -1, err
	}
	if slave, err = duplicate(s); err == nil {
		err = errors.Join(unix.SetNonblock(master, true), unix.SetNonblock(slave, false),
			unix.IoctlSetWinsize(slave, unix.TIOCSWINSZ, &size))
	}
	if err != nil {
		closeAll(&[2]int{master, slave})
		return -1, -1, fmt.Errorf("make a pseudo-terminal: %w", err)
	}
	return master, slave, nil
}

// duplicate takes a descriptor out of the care of Go's poller.
func duplicate(f *os.File) (int, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	got := -1
	cerr := conn.Control(func(fd uintptr) { got, err = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	return got, errors.Join(cerr, err)
}

// open is the terminal of an attempt's log.
func (t *terminals) open(l *attemptLog) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	master, slave, err := openTerminal(t.size)
	if err != nil {
		return err
	}
	l.reads[0], l.writes[0] = master, slave
	writer, err := unix.FcntlInt(uintptr(master), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return err
	}
	asked, err := unix.FcntlInt(uintptr(slave), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return errors.Join(err, unix.Close(writer))
	}
	t.current = &terminal{os.NewFile(uintptr(writer), "terminal"), asked}
	t.changed.Broadcast()
	return nil
}

// closeCurrent is for an attempt that has ended; without terminals it does nothing.
func (t *terminals) closeCurrent() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current == nil {
		return
	}
	t.current.master.Close()
	unix.Close(t.current.slave)
	t.current = nil
	t.changed.Broadcast()
}

// close ends listening.
func (t *terminals) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if err := t.input.Close(); err != nil {
		t.log.Printf("close the terminal's input: %v", err)
	}
	t.changed.Broadcast()
}

// listen takes what clients send.
func (t *terminals) listen() {
	for {
		m, err := t.input.Next()
		if err != nil {
			if !errors.Is(err, fs.ErrClosed) {
				t.log.Print(err)
			}
			return
		}
		switch m.Kind {
		case ttypipe.Input:
			t.enqueue(m.Data)
		case ttypipe.Size:
			t.resize(m.Rows, m.Cols)
		case ttypipe.End:
			t.end()
		}
	}
}

func (t *terminals) enqueue(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) >= maxQueue && !t.closed {
		t.changed.Wait()
	}
	t.ended = false // another process still has it open
	t.queue = append(t.queue, p...)
	t.changed.Broadcast()
}

// resize sets the size; the system tells the replica if it is another one.
func (t *terminals) resize(rows, cols uint16) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size.Row, t.size.Col = rows, cols
	if t.current == nil {
		return
	}
	if err := unix.IoctlSetWinsize(t.current.slave, unix.TIOCSWINSZ, &t.size); err != nil {
		t.log.Printf("set the terminal's size: %v", err)
	}
}

func (t *terminals) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	t.changed.Broadcast()
}

// forward writes what is queued to the current terminal.
func (t *terminals) forward() {
	pause := endPauseFirst
	for {
		to, chunk := t.next()
		switch {
		case to == nil:
			return
		case len(chunk) > 0:
			t.consume(to.write(chunk, t.log))
			pause = endPauseFirst
		default:
			t.sendEOF(to)
			time.Sleep(pause)
			pause = min(2*pause, endPauseMax)
		}
	}
}

// next waits for something to write; an empty chunk is the end of the input, nil
// the end of all.
func (t *terminals) next() (*terminal, []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed && (t.current == nil || len(t.queue) == 0 && !t.ended) {
		t.changed.Wait()
	}
	if t.closed {
		return nil, nil
	}
	return t.current, t.queue[:min(len(t.queue), 4096)] // behind it put only appends
}

// consume forgets what was passed on.
func (t *terminals) consume(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue[:0:0], t.queue[n:]...)
	t.changed.Broadcast()
}

// sendEOF lets the replica read an end of file, again and again as a file does: a
// terminal forgets one that came while it changed its mode, as it does around each
// line of a REPL. Nothing is said while there is something that was not read.
func (t *terminals) sendEOF(to *terminal) {
	if !t.hasUnread(to) {
		to.write([]byte{endOfFile}, t.log)
	}
}

// hasUnread reports whether the replica has input that it did not take.
func (t *terminals) hasUnread(to *terminal) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.current != to {
		return true
	}
	polled := []unix.PollFd{{Fd: int32(to.slave), Events: unix.POLLIN}}
	n, err := unix.Poll(polled, 0)
	return n > 0 && err == nil
}

// write returns how much the terminal took in a moment.
func (to *terminal) write(p []byte, l *log.Logger) int {
	_ = to.master.SetWriteDeadline(time.Now().Add(writeWait)) // closed: Write says so
	n, err := to.master.Write(p)
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, fs.ErrClosed):
	case errors.Is(err, unix.EAGAIN): // where it cannot be waited for
		time.Sleep(time.Millisecond)
	default:
		l.Printf("pass input on: %v", err)
		n = len(p) // it would fail again
	}
	return n
}
