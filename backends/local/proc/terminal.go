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

	"torchx/backends/ttypipe"
	"torchx/runtime/backend"
)

const (
	// maxQueuedInput bounds the input that is queued for the replica, in bytes. If it is
	// full the FIFO fills, and then clients block.
	maxQueuedInput = 64 << 10
	// writeTimeout bounds a write to a terminal that accepts no input. After it, forward
	// checks whether the replica is still the same.
	writeTimeout = 100 * time.Millisecond
)

// terminals creates a pseudo-terminal for each attempt of the only replica and forwards
// the input of clients to it. Input that an attempt did not read goes to the next one.
type terminals struct {
	input *ttypipe.Listener
	log   *log.Logger

	mu      sync.Mutex
	changed *sync.Cond
	size    unix.Winsize
	current *terminal // nil between attempts
	queue   []byte
	ended   bool // a client sent the end of the input
	closed  bool
}

// terminal is the pseudo-terminal of one attempt.
type terminal struct {
	master *os.File // for writing; the drainer has its own descriptor
	slave  int      // for polling and resizing; the replica has its own descriptor
}

// UseTerminal runs the only replica on a pseudo-terminal. Call it before the first Start.
// Finish closes the input.
func (p *Launcher) UseTerminal(rows, cols uint16, input *ttypipe.Listener) {
	t := &terminals{input: input, log: p.log, size: unix.Winsize{Row: rows, Col: cols}}
	t.changed = sync.NewCond(&t.mu)
	p.terminals = t
	go t.listen()
	go t.forward()
}

// openTerminal creates a pseudo-terminal with a non-blocking master and a blocking slave
// for the replica.
func openTerminal(size unix.Winsize) (master, slave int, err error) {
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
			unix.IoctlSetWinsize(slave, unix.TIOCSWINSZ, &size))
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

// open creates the terminal of an attempt's log.
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
	slaveCopy, err := unix.FcntlInt(uintptr(slave), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return errors.Join(err, unix.Close(writer))
	}
	t.current = &terminal{os.NewFile(uintptr(writer), "terminal"), slaveCopy}
	t.changed.Broadcast()
	return nil
}

// closeCurrent closes the terminal of an ended attempt. It does nothing if t is nil.
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

// close stops listening.
func (t *terminals) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if err := t.input.Close(); err != nil {
		t.log.Printf("close the terminal's input: %v", err)
	}
	t.changed.Broadcast()
}

// listen handles the messages of clients.
func (t *terminals) listen() {
	t.input.Each(func(m ttypipe.Message) {
		switch m.Kind {
		case ttypipe.Input:
			t.enqueue(m.Data)
		case ttypipe.Size:
			t.resize(m.Rows, m.Cols)
		case ttypipe.End:
			t.end()
		}
	}, func(err error) { t.log.Print(err) })
}

func (t *terminals) enqueue(p []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.queue) >= maxQueuedInput && !t.closed {
		t.changed.Wait()
	}
	t.ended = false // another client still sends input
	t.queue = append(t.queue, p...)
	t.changed.Broadcast()
}

// resize sets the size. The kernel signals a change to the replica.
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

// forward writes queued input to the current terminal.
func (t *terminals) forward() {
	pause := backend.MinEOFPause
	for {
		to, chunk := t.next()
		switch {
		case to == nil:
			return
		case len(chunk) > 0:
			t.discard(to.write(chunk, t.log))
			pause = backend.MinEOFPause
		default:
			t.sendEOF(to)
			time.Sleep(pause)
			pause = min(2*pause, backend.MaxEOFPause)
		}
	}
}

// next waits for input to write. An empty chunk is the end of the input; a nil terminal
// means that terminals are closed.
func (t *terminals) next() (*terminal, []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed && (t.current == nil || len(t.queue) == 0 && !t.ended) {
		t.changed.Wait()
	}
	if t.closed {
		return nil, nil
	}
	return t.current, t.queue[:min(len(t.queue), 4096)] // enqueue only appends after it
}

// discard removes input that was written.
func (t *terminals) discard(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queue = append(t.queue[:0:0], t.queue[n:]...)
	t.changed.Broadcast()
}

// sendEOF sends an EOF character, unless the replica has unread input. forward calls it
// repeatedly: a terminal drops an EOF that arrives while a program changes its mode, as
// REPLs do around each line.
func (t *terminals) sendEOF(to *terminal) {
	if !t.hasUnread(to) {
		to.write([]byte{backend.EndOfFile}, t.log)
	}
}

// hasUnread reports whether the replica has unread input.
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

// write writes for up to writeTimeout and returns the number of bytes written.
func (to *terminal) write(p []byte, l *log.Logger) int {
	_ = to.master.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails if closed, as Write then does
	n, err := to.master.Write(p)
	switch {
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, fs.ErrClosed):
	case errors.Is(err, unix.EAGAIN): // on systems without polling of terminals
		time.Sleep(time.Millisecond)
	default:
		l.Printf("forward input: %v", err)
		n = len(p) // it would fail again
	}
	return n
}
