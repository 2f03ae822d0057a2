package proc

import (
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// drainBuffer is the maximum number of bytes per read.
	drainBuffer = 256 << 10
	// maxReads bounds the reads of one flooding pipe before other pipes are read.
	maxReads = 4
	// wakeKey identifies the eventfd that interrupts the wait.
	wakeKey = -1
)

// drainer reads the pipes of all replicas in one goroutine with one buffer, in the order
// in which they became readable.
type drainer struct {
	epoll, wake int
	log         *log.Logger
	buf         []byte

	mu      sync.Mutex
	streams map[int32]*stream // by read end
	open    sync.WaitGroup    // one per attempt that is being read
}

// stream is one pipe.
type stream struct {
	log   *attemptLog
	index int
	open  *int // number of open streams of the attempt
}

func newDrainer(trouble *log.Logger) (*drainer, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create epoll: %w", err)
	}
	wake, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("create eventfd: %w", err)
	}
	d := &drainer{epoll: epoll, wake: wake, log: trouble, buf: make([]byte, drainBuffer), streams: map[int32]*stream{}}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, wake, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: wakeKey}); err != nil {
		return nil, fmt.Errorf("watch eventfd: %w", err)
	}
	go d.loop()
	return d, nil
}

// prepare sets up a log's pipes before the replica starts.
func (d *drainer) prepare(l *attemptLog) {
	if !l.tty {
		l.setInStep()
	}
}

// add reads both streams of a log until EOF, then completes it.
func (d *drainer) add(l *attemptLog) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	open := 0
	for i, fd := range l.reads {
		if fd < 0 {
			continue
		}
		open++
		d.streams[int32(fd)] = &stream{l, i, &open}
		if err := d.watch(unix.EPOLL_CTL_ADD, fd); err != nil {
			return err
		}
	}
	d.open.Add(1)
	return nil
}

// watch makes epoll report the pipe each time it becomes readable, and now if it is.
func (d *drainer) watch(op, fd int) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: int32(fd)}
	if err := unix.EpollCtl(d.epoll, op, fd, &e); err != nil {
		return fmt.Errorf("watch output: %w", err)
	}
	return nil
}

func (d *drainer) loop() {
	events := make([]unix.EpollEvent, 128)
	for {
		n, err := ignoringEINTR(func() (int, error) { return unix.EpollWait(d.epoll, events, -1) })
		if err != nil {
			d.log.Printf("wait for output: %v", err)
			return
		}
		d.mu.Lock()
		for _, e := range events[:n] {
			if e.Fd == wakeKey {
				d.endAll()
			} else if s := d.streams[e.Fd]; s != nil {
				d.read(s, e.Events&(unix.EPOLLHUP|unix.EPOLLERR) != 0)
			}
		}
		d.mu.Unlock()
	}
}

// read reads one write of a replica in step, so that the order of both streams is kept,
// and more of one that floods or has ended.
func (d *drainer) read(s *stream, ended bool) {
	for turn := 0; ; turn++ {
		n, err := s.log.readOnce(s.index, d.buf)
		switch {
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n == 0:
			d.end(s, err)
			return
		}
		changed := !s.log.tty && s.log.updatePace(s.index, n, time.Now())
		switch {
		case changed:
			d.rearm(s.log) // data that arrived before the change is not reported again
			return
		case ended:
		case !s.log.pace.flooding && !s.log.tty:
			return
		case turn == maxReads:
			d.rearm(s.log)
			return
		}
	}
}

// rearm makes epoll report the pipes of a log that are readable.
func (d *drainer) rearm(l *attemptLog) {
	for _, fd := range l.reads {
		if d.streams[int32(fd)] != nil {
			if err := d.watch(unix.EPOLL_CTL_MOD, fd); err != nil {
				d.log.Print(err)
			}
		}
	}
}

// end stops reading a stream. After the last one it completes the log.
func (d *drainer) end(s *stream, err error) {
	if err != nil {
		d.log.Printf("read output: %v", err)
	}
	fd := s.log.reads[s.index]
	delete(d.streams, int32(fd))
	unix.Close(fd) // also removes it from epoll
	s.log.reads[s.index] = -1
	if *s.open--; *s.open == 0 {
		s.log.close(d.log)
		d.open.Done()
	}
}

// endAll ends all streams after reading what they have now.
func (d *drainer) endAll() {
	for _, s := range d.streams {
		for {
			n, err := s.log.readOnce(s.index, d.buf)
			if err != nil || n <= 0 {
				break
			}
		}
		d.end(s, nil)
	}
}

// release closes the agent's write ends, so that a stream ends when the replica closes it.
func (d *drainer) release(l *attemptLog) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l.closeWriters()
}

// giveUp ends all open streams.
func (d *drainer) giveUp() {
	_, _ = unix.Write(d.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0}) // writes to an eventfd have 8 bytes
}
