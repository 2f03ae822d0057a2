package proc

import (
	"time"

	"golang.org/x/sys/unix"
)

// Two pipes alone do not tell in which order a replica wrote to them: a shell
// prints a hundred lines before the reader has woken up once. So a replica starts
// "in step": each pipe holds one write, kept apart from the next (packet mode),
// and the system's list of readable pipes says which came first. A replica that
// floods its output would be slowed down by that; it gets a large pipe, and order
// by arrival, until it calms down.
const (
	stepPipe  = 4096    // bytes of a pipe in step: one page, one write
	floodPipe = 1 << 20 // the most that an ordinary user may ask for
	// A replica floods when it writes this much within paceWindow: some 0.2 s of
	// its time in step.
	floodWrites = 20000
	floodBytes  = 8 << 20
	paceWindow  = time.Second
)

// pace is how one attempt's output is read at the moment.
type pace struct {
	flooding bool
	since    time.Time // when the window began
	writes   int
	bytes    int
}

// step makes both pipes hold one write each. Systems that cannot do it go on as
// with ordinary pipes.
func (l *attemptLog) step() {
	for i := range l.reads {
		setPacketMode(l.writes[i], true)
		_, _ = unix.FcntlInt(uintptr(l.reads[i]), unix.F_SETPIPE_SZ, stepPipe)
	}
	l.pace.flooding = false
}

func (l *attemptLog) flood() {
	for i := range l.reads {
		setPacketMode(l.writes[i], false)
		_, _ = unix.FcntlInt(uintptr(l.reads[i]), unix.F_SETPIPE_SZ, floodPipe)
	}
	l.pace.flooding = true
}

// setPacketMode changes the flag of the pipe's open file, which the replica
// shares; its other flags are the replica's own affair.
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

// nonblocking reports whether the replica made its output non-blocking: then a
// small pipe would make its writes fail instead of wait.
func (l *attemptLog) nonblocking(stream int) bool {
	if l.writes[stream] < 0 {
		return false
	}
	flags, err := unix.FcntlInt(uintptr(l.writes[stream]), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK != 0
}

// updatePace notes what was read and changes the pace where it should. It reports
// whether it did: then a pipe may have to be looked at again.
func (l *attemptLog) updatePace(stream, n int, now time.Time) (changed bool) {
	p := &l.pace
	if now.Sub(p.since) > paceWindow {
		calm := p.writes < floodWrites && p.bytes < floodBytes
		p.since, p.writes, p.bytes = now, 0, 0
		if p.flooding && calm && !l.nonblocking(stream) {
			l.step()
			return true
		}
	}
	p.writes++
	p.bytes += n
	if !p.flooding && (p.writes >= floodWrites || p.bytes >= floodBytes || l.nonblocking(stream)) {
		l.flood()
		return true
	}
	return false
}
