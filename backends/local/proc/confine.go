//go:build unix

package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"

	"torchx/runtime/cgroup"
	"torchx/runtime/spec"
)

// LimitedCommand is the first argument with which this program sets the limits of its own
// process and then executes a replica's program. The agent cannot set them, because after
// the fork it would be too late. The other arguments are the limit in bytes, the path of
// the program and its arguments, starting with its name.
const LimitedCommand = "limited"

// spareHeap is at least the memory that exec needs for arguments and environment.
const spareHeap = 2 << 20

// ExecLimited runs LimitedCommand. It returns only if it fails, with the exit code that
// shells use.
func ExecLimited(args []string) (code int, err error) {
	if len(args) < 3 {
		return spec.ExitNotStarted, errors.New("internal command: use `torchx run`")
	}
	n, err := strconv.ParseUint(args[0], 10, 63)
	if err != nil {
		return spec.ExitNotStarted, fmt.Errorf("limit memory: %w", err)
	}
	// The limit also applies to this process, which may need more heap until exec: reserve
	// free pages of the heap, and do without what needs other memory, garbage collections and
	// memory profiles.
	runtime.MemProfileRate = 0
	runtime.KeepAlive(make([]byte, spareHeap))
	runtime.GC()
	debug.SetGCPercent(-1)
	// RLIMIT_DATA counts private writable memory (Linux 4.7). RLIMIT_AS would also count
	// address space that allocators and GPU drivers only reserve, hundreds of GiB.
	if err := lowerLimit(unix.RLIMIT_DATA, n); err != nil {
		return spec.ExitNotStarted, fmt.Errorf("limit memory: %w", err)
	}
	err = unix.Exec(args[1], args[2:], os.Environ())
	return spec.ExitNotExecutable, fmt.Errorf("start %s: %w", args[1], err)
}

func lowerLimit(resource int, n uint64) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(resource, &limit); err != nil {
		return err
	}
	limit.Max = min(limit.Max, n)
	limit.Cur = min(limit.Cur, limit.Max)
	return unix.Setrlimit(resource, &limit)
}

// limitedCommand returns the command line that runs a program with a memory limit.
// /proc/self/exe is this program, even if its file was replaced.
func limitedCommand(path string, c Command) (string, []string) {
	if c.MaxData <= 0 {
		return path, c.Argv
	}
	return "/proc/self/exe", append([]string{"torchx", LimitedCommand, strconv.FormatInt(c.MaxData, 10), path}, c.Argv...)
}

// createCgroup creates the control group of an attempt, if it has one.
func (c Command) createCgroup() (dir string, err error) {
	if c.CgroupParent == "" {
		return "", nil
	}
	return cgroup.Create(c.CgroupParent, c.CgroupName, c.CgroupLimits)
}

// openCgroup returns a descriptor of a control group's folder, -1 for none.
func openCgroup(dir string) (int, error) {
	if dir == "" {
		return -1, nil
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("open cgroup: %w", err)
	}
	return fd, nil
}

// oomMessage returns a message if the memory limit of its group killed the process. It
// follows "replica r/0 failed first: ".
func (s *process) oomMessage() string {
	if s.group == "" || s.maxMemory == 0 || cgroup.OOMKills(s.group) == 0 {
		return ""
	}
	return fmt.Sprintf("killed because it used more than its %d MB", s.maxMemory>>20)
}

// releaseGroup removes the control group of an ended attempt. If processes are left in it,
// removeGroups removes it at the end of the app.
func (p *Launcher) releaseGroup(s *process) {
	if s.group != "" && cgroup.Remove(s.group) != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.leftGroups = append(p.leftGroups, s.group)
	}
}

// removeGroups kills the processes in the remaining control groups and removes the groups.
func (p *Launcher) removeGroups() {
	p.mu.Lock()
	groups := p.leftGroups
	p.leftGroups = nil
	p.mu.Unlock()
	for _, dir := range groups {
		if err := cgroup.End(dir); err != nil {
			p.log.Print(err)
		}
	}
}
