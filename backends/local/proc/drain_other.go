//go:build unix && !linux

package proc

import (
	"errors"
	"log"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const drainBuffer = 64 << 10

// pace is unused on this system: the order across the two streams is that of arrival.
type pace struct{}

// drainer reads pipes, each in its own goroutine.
type drainer struct {
	log  *log.Logger
	open sync.WaitGroup

	mu    sync.Mutex
	files []*os.File
}

func newDrainer(log *log.Logger) (*drainer, error) { return &drainer{log: log}, nil }

func (d *drainer) prepare(*attemptLog) {}

// add reads both streams of a log until EOF, then completes it.
func (d *drainer) add(l *attemptLog) error {
	var streams sync.WaitGroup
	for i, fd := range l.reads {
		if fd < 0 {
			continue
		}
		f := os.NewFile(uintptr(fd), "replica output")
		d.mu.Lock()
		d.files = append(d.files, f)
		d.mu.Unlock()
		streams.Go(func() { d.copy(l, i, f) })
	}
	d.open.Go(func() {
		streams.Wait()
		l.reads = [2]int{-1, -1} // closed by their files
		l.close(d.log)
	})
	return nil
}

func (d *drainer) copy(l *attemptLog, index int, f *os.File) {
	defer f.Close()
	conn, err := f.SyscallConn()
	buf := make([]byte, drainBuffer)
	for err == nil {
		var n int
		var failed error
		err = conn.Read(func(uintptr) bool {
			n, failed = l.readOnce(index, buf)
			return !errors.Is(failed, unix.EAGAIN)
		})
		if failed != nil || n == 0 {
			return
		}
	}
}

func (d *drainer) release(l *attemptLog) { l.closeWriters() }

// giveUp ends all open streams.
func (d *drainer) giveUp() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.files {
		_ = f.SetReadDeadline(time.Now()) // fails only if it is closed
	}
}
