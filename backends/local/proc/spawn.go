//go:build unix

package proc

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner forks every replica from one thread that lives as long as the agent, because
// the parent-death signal is sent when the thread ends, not the process.
type spawner struct {
	requests chan spawnRequest
	null     *os.File
}

type spawnRequest struct {
	path  string
	argv  []string
	attr  *syscall.ProcAttr
	reply chan spawnReply
}

type spawnReply struct {
	pid int
	err error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawnRequest)}
	go s.loop()
	return s
}

func (s *spawner) loop() {
	runtime.LockOSThread() // never unlocked: the thread must live as long as the process
	for r := range s.requests {
		pid, err := syscall.ForkExec(r.path, r.argv, r.attr)
		r.reply <- spawnReply{pid, err}
	}
}

// spawn starts a program with null input and the log's pipes as output, or on the log's
// terminal. If group is not "", it is the folder of its control group.
func (s *spawner) spawn(path string, c Command, l *attemptLog, group string) (int, error) {
	if s.null == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return 0, err
		}
		s.null = null
	}
	dir, err := openCgroup(group)
	if err != nil {
		return 0, err
	}
	if dir >= 0 {
		defer unix.Close(dir)
	}
	file, argv := limitedCommand(path, c)
	attr := &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env,
		Files: l.files(s.null.Fd()),
		Sys:   processAttributes(dir),
	}
	attr.Sys.Setctty = l.tty // Ctty is 0, its stdin
	reply := make(chan spawnReply, 1)
	s.requests <- spawnRequest{file, argv, attr, reply}
	r := <-reply
	if r.err != nil {
		return 0, startError(path, c.Dir, r.err)
	}
	return r.pid, nil
}
