//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"

	"torchx/runtime/cgroup"
	"torchx/runtime/spec"
)

// LimitedCommand is the first argument with which this program, started instead of
// a replica's, sets the limits of its own process and becomes that program. A
// parent cannot: limits belong to processes, and setting them after the fork
// would be a race. What follows is the limit in bytes, the program's path and its
// arguments, the name included.
const LimitedCommand = "limited"

// spareHeap is the memory that exec needs at most for arguments and environment.
const spareHeap = 2 << 20

// ExecLimited is what the program does when it is started so. It returns only
// when that fails, with the exit code of the shells' convention.
func ExecLimited(args []string) (code int, err error) {
	if len(args) < 3 {
		return spec.ExitNotStarted, errors.New("start it by `torchx run`")
	}
	n, err := strconv.ParseUint(args[0], 10, 63)
	if err != nil {
		return spec.ExitNotStarted, fmt.Errorf("limit memory: %w", err)
	}
	// The limit counts this process as well, which may have to grow its heap before the
	// program replaces it: free pages of the heap serve for that.
	runtime.KeepAlive(make([]byte, spareHeap))
	runtime.GC()
	// RLIMIT_DATA counts private writable memory (Linux 4.7): what a program uses or
	// may use at once. RLIMIT_AS would count what allocators and GPU drivers only
	// reserve, hundreds of GiB.
	if err := lower(unix.RLIMIT_DATA, n); err != nil {
		return spec.ExitNotStarted, fmt.Errorf("limit memory: %w", err)
	}
	err = unix.Exec(args[1], args[2:], os.Environ())
	return spec.ExitNotExecutable, fmt.Errorf("start %s: %w", args[1], err)
}

func lower(resource int, n uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil {
		return err
	}
	limit.Max = min(limit.Max, n)
	limit.Cur = min(limit.Cur, limit.Max)
	return unix.Setrlimit(resource, &limit)
}

// limitedCommand is the command line that runs a program with a limit of its memory.
// The program of the child is still this one, even if its file was replaced.
func limitedCommand(path string, c Command) (string, []string) {
	if c.MaxData <= 0 {
		return path, c.Argv
	}
	return "/proc/self/exe", append([]string{"torchx", LimitedCommand, strconv.FormatInt(c.MaxData, 10), path}, c.Argv...)
}

// group makes the control group of an attempt, if it is to have one.
func (c Command) group() (dir string, err error) {
	if c.Cgroups == "" {
		return "", nil
	}
	return cgroup.Create(c.Cgroups, c.Cgroup, c.CgroupLimits)
}

// openGroup returns a descriptor of the folder to start in, -1 for none.
func openGroup(dir string) (int, error) {
	if dir == "" {
		return -1, nil
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open cgroup: %w", err)
	}
	return fd, nil
}

// oomMessage tells, if the memory limit of its group ended a process, in words that
// stand behind "replica r/0 failed first: ".
func (s *process) oomMessage() string {
	if s.group == "" || s.maxMemory == 0 || cgroup.OOMKills(s.group) == 0 {
		return ""
	}
	return fmt.Sprintf("killed because it used more than its %d MB", s.maxMemory>>20)
}

// releaseGroup removes the group of an attempt that has ended, or notes it for the end
// if something is left in it.
func (p *Launcher) releaseGroup(s *process) {
	if s.group != "" && cgroup.Remove(s.group) != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.groups = append(p.groups, s.group)
	}
}

// removeGroups removes the groups that were left.
func (p *Launcher) removeGroups() {
	p.mu.Lock()
	groups := p.groups
	p.groups = nil
	p.mu.Unlock()
	for _, dir := range groups {
		if err := cgroup.End(dir); err != nil {
			p.log.Print(err)
		}
	}
}
