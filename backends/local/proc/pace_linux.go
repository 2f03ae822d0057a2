package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// Two ordinary pipes do not show in which order a replica wrote to them: a shell prints a
// hundred lines before the reader wakes up. So a replica starts "in step": each pipe holds
// one write, separate from the next (packet mode), and the order in which epoll reports
// the pipes is that of the writes. This would slow down a replica that floods its output:
// it gets large pipes, and order by arrival, until its output calms down.
const (
	stepPipe  = 4096    // bytes of a pipe in step: one page, one write
	floodPipe = 1 << 20 // the maximum for an ordinary user
	// A replica floods if it writes this much within paceWindow, which takes it about
	// 0.2 s in step.
	floodWrites = 20000
	floodBytes  = 8 << 20
	paceWindow  = time.Second
)

// pace is how the output of one attempt is currently read.
type pace struct {
	flooding    bool
	windowStart time.Time
	writes      int
	bytes       int
}

// setInStep makes both pipes hold one write each. Systems that do not support it keep
// ordinary pipes.
func (l *attemptLog) setInStep() {
	for i := range l.reads {
		setPacketMode(l.writes[i], true)
		_, _ = unix.FcntlInt(uintptr(l.reads[i]), unix.F_SETPIPE_SZ, stepPipe)
	}
	l.pace.flooding = false
}

func (l *attemptLog) setFlooding() {
	for i := range l.reads {
		setPacketMode(l.writes[i], false)
		_, _ = unix.FcntlInt(uintptr(l.reads[i]), unix.F_SETPIPE_SZ, floodPipe)
	}
	l.pace.flooding = true
}

// setPacketMode changes one flag of the pipe's open file, which the replica shares. It
// keeps the other flags, which the replica may have set.
func setPacketMode(fd int, on bool) {
	if fd < 0 {
		return
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return
	}
	flags &^= unix.O_DIRECT
	if on {
		flags |= unix.O_DIRECT
	}
	_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETFL, flags)
}

// nonblocking reports whether the replica made its output non-blocking, so that writes to
// a small pipe would fail instead of block.
func (l *attemptLog) nonblocking(stream int) bool {
	if l.writes[stream] < 0 {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(l.writes[stream]), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}

// updatePace counts a read and changes the pace if necessary. It reports whether it did:
// then epoll must report the pipes again.
func (l *attemptLog) updatePace(stream, n int, now time.Time) (changed bool) {
	p := &l.pace
	if now.Sub(p.windowStart) > paceWindow {
		calm := p.writes < floodWrites && p.bytes < floodBytes
		p.windowStart, p.writes, p.bytes = now, 0, 0
		if p.flooding && calm && !l.nonblocking(stream) {
			l.setInStep()
			return true
		}
	}
	p.writes++
	p.bytes += n
	if !p.flooding && (p.writes >= floodWrites || p.bytes >= floodBytes || l.nonblocking(stream)) {
		l.setFlooding()
		return true
	}
	return false
}
