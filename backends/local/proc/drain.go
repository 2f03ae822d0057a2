//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"torchx/runtime/logstore"
)

// drainBuffer is the most that is taken from a pipe at once.
const drainBuffer = 128 << 10

// buffers are taken only while a pipe has data: idle replicas hold none.
var buffers = sync.Pool{New: func() any { return new([drainBuffer]byte) }}

// attemptLog is the output of one attempt: two pipes and the log they go to. The
// pipes are always emptied, so that a replica never waits for its log.
type attemptLog struct {
	writer  *logstore.Writer
	readers [2]*os.File
	ends    [2]int // what the replica writes to; -1 when closed
}

func openLog(dir string) (*attemptLog, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create log folder: %w", plain(err))
	}
	w, err := logstore.Create(dir)
	if err != nil {
		return nil, plain(err)
	}
	l := &attemptLog{writer: w, ends: [2]int{-1, -1}}
	for i := range l.readers {
		if l.readers[i], l.ends[i], err = pipe(); err != nil {
			l.closeWriters()
			l.closeReaders()
			return nil, errors.Join(err, w.Close(false))
		}
	}
	return l, nil
}

// plain keeps the text of a file error but not its class: a missing log folder is
// not a missing entry point.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return errors.New(err.Error())
	}
	return err
}

// pipe returns a read end that the runtime polls and a blocking write end.
func pipe() (*os.File, int, error) {
	var fds [2]int
	syscall.ForkLock.RLock()
	err := unix.Pipe(fds[:])
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, -1, fmt.Errorf("create pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return nil, -1, errors.Join(fmt.Errorf("create pipe: %w", err), unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return os.NewFile(uintptr(fds[0]), "replica output"), fds[1], nil
}

func (l *attemptLog) files() [2]uintptr {
	return [2]uintptr{uintptr(l.ends[0]), uintptr(l.ends[1])}
}

// closeWriters leaves the replica as the only writer.
func (l *attemptLog) closeWriters() {
	for i, fd := range l.ends {
		if fd >= 0 {
			unix.Close(fd)
			l.ends[i] = -1
		}
	}
}

func (l *attemptLog) closeReaders() {
	for _, r := range l.readers {
		if r != nil {
			r.Close()
		}
	}
}

// drain copies both streams until they end, then completes the log.
func (l *attemptLog) drain(wg *sync.WaitGroup, trouble *log.Logger) {
	var streams sync.WaitGroup
	for i, s := range []logstore.Stream{logstore.Stdout, logstore.Stderr} {
		streams.Go(func() {
			if err := copyStream(l.writer, s, l.readers[i]); err != nil {
				trouble.Printf("read output: %v", err)
			}
		})
	}
	wg.Go(func() {
		streams.Wait()
		l.close(trouble)
	})
}

// copyStream reads when there is something to read. Errors of the log do not end
// it: the replica must be able to write on.
func copyStream(w *logstore.Writer, s logstore.Stream, r *os.File) error {
	defer r.Close()
	conn, err := r.SyscallConn()
	if err != nil {
		return err
	}
	for {
		var n int
		var failed error
		err := conn.Read(func(fd uintptr) bool {
			buf := buffers.Get().(*[drainBuffer]byte)
			defer buffers.Put(buf)
			n, failed = ignoringEINTR(func() (int, error) { return unix.Read(int(fd), buf[:]) })
			if failed == unix.EAGAIN {
				return false
			}
			if n > 0 {
				_ = w.Append(s, buf[:n], time.Now()) // the writer keeps count of what it cannot write
			}
			return true
		})
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			return err
		case failed != nil:
			return failed
		case n == 0:
			return nil
		}
	}
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}

// interrupt ends the copying of pipes that somebody else keeps open.
func (l *attemptLog) interrupt() {
	for _, r := range l.readers {
		_ = r.SetReadDeadline(time.Now()) // closed already is as good
	}
}

func (l *attemptLog) close(trouble *log.Logger) {
	if err := l.writer.Close(false); err != nil {
		trouble.Printf("close log: %v", err)
	}
	if t := l.writer.Totals(); t.LostBytes > 0 {
		trouble.Printf("log: %d bytes were lost since %s", t.LostBytes, t.LostSince.Format(time.RFC3339))
	}
}
