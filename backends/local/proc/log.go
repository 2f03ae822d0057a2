//go:build unix

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"torchx/runtime/failpoint"
	"torchx/runtime/logstore"
)

// attemptLog is the output of one attempt: two pipes, or a pseudo-terminal instead of the
// first, and the log to which they are copied. The pipes are always read, so that a
// replica never blocks on its output for long.
type attemptLog struct {
	writer *logstore.Writer
	reads  [2]int // read ends, of the agent
	writes [2]int // write ends, for the replica; -1 if closed
	pace   pace
	lines  *logstore.Tap // nil if unused
	tty    bool          // reads and writes have only the two ends of a terminal

	checkpoint      func(logstore.Totals, time.Time) // records a checkpoint
	sinceCheckpoint int                              // bytes since the last checkpoint
}

// checkpointBytes is how much of a log is written between two checkpoints.
const checkpointBytes = 64 << 20

var bothStreams = [2]logstore.Stream{logstore.Stdout, logstore.Stderr}

// openLog creates the log of an attempt. line, which may be nil, is that of agent.Start.
func (p *Launcher) openLog(
	dir string, limit int64, point func(logstore.Totals, time.Time), line func([]byte) bool,
) (*attemptLog, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create log folder: %w", plain(err))
	}
	w, err := logstore.CreateLimited(dir, limit)
	if err != nil {
		return nil, plain(err)
	}
	l := &attemptLog{
		writer: w, checkpoint: point, lines: logstore.NewTap(line),
		reads: [2]int{-1, -1}, writes: [2]int{-1, -1}, tty: p.terminals != nil,
	}
	if l.tty {
		if err := l.useTerminal(p.terminals, p.log); err != nil {
			l.closePipes()
			return nil, errors.Join(err, w.Close(false))
		}
		return l, nil
	}
	for i := range l.reads {
		if l.reads[i], l.writes[i], err = pipe(); err != nil {
			l.closePipes()
			return nil, errors.Join(err, w.Close(false))
		}
	}
	return l, nil
}

// plain removes the class of a file error but keeps its text: a missing log folder is not
// a missing entry point.
func plain(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return errors.New(err.Error())
	}
	return err
}

// pipe returns a read end that does not block and a write end that does.
func pipe() (r, w int, err error) {
	var fds [2]int
	if err := openPipe(&fds); err != nil {
		return -1, -1, fmt.Errorf("create pipe: %w", err)
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		return -1, -1, errors.Join(fmt.Errorf("create pipe: %w", err),
			unix.Close(fds[0]), unix.Close(fds[1]))
	}
	return fds[0], fds[1], nil
}

// files returns the three standard streams of the replica.
func (l *attemptLog) files(null uintptr) []uintptr {
	if l.tty {
		slave := uintptr(l.writes[0])
		return []uintptr{slave, slave, slave}
	}
	return []uintptr{null, uintptr(l.writes[0]), uintptr(l.writes[1])}
}

// pipes returns the names of the write ends in /proc/PID/fd on Linux. It omits a terminal,
// which unrelated processes may have open, too.
func (l *attemptLog) pipes() (names []string) {
	for _, fd := range l.writes {
		var info unix.Stat_t
		if !l.tty && fd >= 0 && unix.Fstat(fd, &info) == nil {
			names = append(names, fmt.Sprintf("pipe:[%d]", info.Ino))
		}
	}
	return names
}

// closeWriters closes the agent's write ends, so that the replica is the only writer.
func (l *attemptLog) closeWriters() { closeAll(&l.writes) }

func (l *attemptLog) closePipes() {
	closeAll(&l.writes)
	closeAll(&l.reads)
}

func closeAll(fds *[2]int) {
	for i, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
			fds[i] = -1
		}
	}
}

// readOnce reads once from a stream. It ignores errors of writing the log: the writer
// counts lost bytes.
func (l *attemptLog) readOnce(stream int, buf []byte) (int, error) {
	n, err := ignoringEINTR(func() (int, error) { return unix.Read(l.reads[stream], buf) })
	if n > 0 {
		now := failpoint.Now()
		_ = l.writer.Append(bothStreams[stream], buf[:n], now)
		l.lines.Feed(logstore.Stream(stream), buf[:n])
		if l.sinceCheckpoint += n; l.sinceCheckpoint >= checkpointBytes {
			l.sinceCheckpoint = 0
			l.checkpoint(l.writer.Totals(), now)
		}
	}
	if l.tty && errors.Is(err, unix.EIO) {
		return 0, nil // the last process closed the terminal
	}
	return n, err
}

func ignoringEINTR(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// close completes the log.
func (l *attemptLog) close(trouble *log.Logger) {
	l.closePipes()
	if err := l.writer.Close(false); err != nil {
		trouble.Printf("close log: %v", err)
	}
	t := l.writer.Totals()
	l.checkpoint(t, failpoint.Now())
	if t.LostBytes > 0 {
		trouble.Printf("log: %d bytes were lost since %s", t.LostBytes,
			t.LostSince.Format(time.RFC3339))
	}
}
