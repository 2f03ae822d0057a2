package agent

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Early is the agent of an app that has no bundle yet: the program starts while the app is
// recorded. It waits for the lock of the bundle, and ends if none comes.
type Early struct {
	process *os.Process
	socket  *os.File // sends the lock
	ready   *os.File // receives the answer of the agent
}

// StartEarly starts the agent of a bundle that does not exist yet.
func StartEarly(exe string, b Bundle) (*Early, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	socket, theirs := os.NewFile(uintptr(pair[0]), lockFile), os.NewFile(uintptr(pair[1]), lockFile)
	defer theirs.Close()
	ready, w, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, socket.Close())
	}
	defer w.Close()
	cmd := Detached(context.Background(), os.Environ(), exe, "agent", b.Dir)
	cmd.ExtraFiles = []*os.File{theirs, w}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, socket.Close(), ready.Close())
	}
	return &Early{cmd.Process, socket, ready}, nil
}

// take passes the lock to the agent, whose answer comes from the file. It fails if the agent has
// died.
func (e *Early) take(lock *os.File) (ready *os.File, process *os.Process, err error) {
	err = unix.Sendmsg(int(e.socket.Fd()), []byte{0}, unix.UnixRights(int(lock.Fd())),
		nil, unix.MSG_NOSIGNAL)
	if err = errors.Join(err, e.socket.Close()); err != nil {
		e.End()
		return nil, nil, err
	}
	return e.ready, e.process, nil
}

// End ends an agent that was not taken.
func (e *Early) End() {
	e.socket.Close()
	e.ready.Close()
	Reap(e.process)
}

// AwaitBundle waits, in an agent that was started early, for the lock of its bundle and opens its
// log. It returns false if no bundle comes: the submitter failed or died.
func AwaitBundle(dir string) bool {
	var stat unix.Stat_t
	if unix.Fstat(lockFD, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return true // it was started with its bundle
	}
	lock, err := receiveFile(lockFD)
	if err != nil {
		return false
	}
	log, err := safefile.OpenFile(Bundle{dir}.supervisor().log(),
		os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	for from, to := range map[int][]int{lock: {lockFD}, int(log.Fd()): {1, 2}} {
		for _, fd := range to {
			if err == nil {
				err = unix.Dup3(from, fd, 0)
			}
		}
	}
	unix.Close(lock)
	if log != nil {
		log.Close()
	}
	if err != nil {
		_, _ = os.NewFile(readyFD, "ready").Write(readyAnswer{Code: spec.ExitNotStarted, Error: err.Error()}.encode())
		return false
	}
	return true
}

// receiveFile receives a descriptor from a socket.
func receiveFile(socket int) (fd int, err error) {
	rights := make([]byte, unix.CmsgSpace(4))
	n, size := 0, 0
	for err = error(unix.EINTR); errors.Is(err, unix.EINTR); {
		n, size, _, _, err = unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil || n == 0 {
		return 0, errors.Join(err, os.ErrClosed)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:size])
	if err != nil || len(messages) != 1 {
		return 0, errors.Join(err, os.ErrInvalid)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return 0, errors.Join(err, os.ErrInvalid)
	}
	return fds[0], nil
}
