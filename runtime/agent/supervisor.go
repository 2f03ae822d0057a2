package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"torchx/runtime/filelock"
	"torchx/runtime/procs"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
)

// Names of a supervisor's files in the folder of its app.
const (
	lockFile = "agent.lock"
	logFile  = "agent.log"
)

const (
	// endingWait bounds the wait for an agent that is about to end.
	endingWait = 2 * time.Second
	// maxHolder bounds a lock's content in bytes.
	maxHolder = 64 << 10
	// lockPause is the pause between two attempts to take a lock.
	lockPause = 2 * time.Millisecond
)

// Supervisor holds the files that show whether a supervisor is alive. A supervisor is the
// detached process `torchx agent DIR`. It holds the lock of its folder until it ends, and
// the app has an entry in a folder of live apps until it has a result. An entry with a free
// lock belongs to an app whose supervisor died; the next command recovers that app.
type Supervisor struct {
	Dir      string // the app's folder
	LiveDir  string // the folder of live apps; the entry is named like Dir
	Manifest string // if this file is missing, Dir counts as deleted
}

func (s Supervisor) lock() string { return filepath.Join(s.Dir, lockFile) }

func (s Supervisor) log() string { return filepath.Join(s.Dir, logFile) }

// Entry returns the path of the app's entry among the live apps.
func (s Supervisor) Entry() string { return filepath.Join(s.LiveDir, filepath.Base(s.Dir)) }

// RemoveEntry removes the entry of an app that has ended. Failure is harmless: the next
// command checks the app once more.
func (s Supervisor) RemoveEntry() { _ = os.Remove(s.Entry()) }

// LiveEntries returns the names in a folder of live apps; none if it does not exist.
func LiveEntries(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

// Acquire takes the lock for this process, as its supervisor. It retries for the duration
// wait, since other processes test the lock. Errors: filelock.ErrHeld.
func (s Supervisor) Acquire(wait time.Duration) (*filelock.Lock, error) {
	for deadline := time.Now().Add(wait); ; time.Sleep(lockPause) {
		lock, err := filelock.TryAcquire(s.lock())
		if !errors.Is(err, filelock.ErrHeld) || time.Now().After(deadline) {
			return lock, err
		}
	}
}

// held reports whether a supervisor, or the process that starts it, holds the lock. The
// entry may be a hard link to the lock, which remains when Dir is deleted.
func (s Supervisor) held() bool { return filelock.Held(s.Entry()) || filelock.Held(s.lock()) }

// Deleted reports whether the app's folder was deleted or moved away.
func (s Supervisor) Deleted() bool {
	_, err := os.Lstat(filepath.Join(s.Dir, s.Manifest))
	return errors.Is(err, fs.ErrNotExist)
}

// Alive reports whether the app has a supervisor or is being submitted. It waits for a
// supervisor that is about to end: one that was just killed, or one that it signals here
// because the folder was deleted.
func (s Supervisor) Alive() bool {
	notified := false
	for deadline := time.Now().Add(endingWait); s.held(); time.Sleep(time.Millisecond) {
		h := s.holder()
		if h.PID == 0 || time.Now().After(deadline) {
			return true
		}
		_, exists := procs.Get(h.PID)
		switch {
		case !exists: // just ended, or runs on another machine
			return s.held()
		case notified || procs.Dying(h.PID):
		case s.Deleted():
			_ = signalHolder(s.Entry(), syscall.SIGTERM) // on failure the agent notices by itself
			notified = true
		default:
			return true
		}
	}
	return false
}

// holder is the content of a lock: the submitter writes the handle, the agent its pid.
type holder struct {
	Handle string `json:"handle,omitempty"`
	PID    int    `json:"pid,omitempty"`
}

func (h holder) encode() []byte {
	data, _ := json.Marshal(h) // plain fields cannot fail
	return append(data, '\n')
}

// holder returns the known facts about the holder; it is empty if there are none.
func (s Supervisor) holder() holder {
	h, _ := readHolder(s.Entry())
	if h.PID == 0 {
		if locked, err := readHolder(s.lock()); err == nil && locked.PID != 0 {
			return locked
		}
	}
	return h
}

// readHolder reads a holder from a lock; the content may also be a bare pid. Content that
// is being written gives an empty holder.
func readHolder(path string) (h holder, err error) {
	data, err := safefile.ReadFile(path, maxHolder)
	if err != nil {
		return h, fmt.Errorf("read %s: %w", lockFile, err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(data))); err == nil {
		return holder{PID: pid}, nil
	}
	if !json.Valid(data) {
		return h, nil
	}
	return h, json.Unmarshal(data, &h)
}

// Start starts the detached supervisor of the folder with the program exe; files become
// descriptors 3 and up.
func (s Supervisor) Start(exe string, files ...*os.File) (*os.Process, error) {
	out, err := safefile.OpenFile(s.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := Detached(context.Background(), os.Environ(), exe, "agent", s.Dir)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, files
	err = cmd.Start()
	return cmd.Process, err
}

// Reap waits in the background for the end of a detached process, which would stay a zombie of a
// caller that runs for long.
func Reap(process *os.Process) { go func() { _, _ = process.Wait() }() }

// Detached returns a command as a process that outlives the terminal, keeps no mount busy and
// does not count as part of the app that may have started it.
func Detached(ctx context.Context, environ []string, exe string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir = filepath.VolumeName(exe) + string(filepath.Separator)
	cmd.Env = []string{}
	for _, e := range environ {
		if !strings.HasPrefix(e, spec.JobIDVariable+"=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.SysProcAttr = detached()
	return cmd
}

// Supervise is the main function of a supervisor: it calls run and returns the process's
// exit code. Log output and the error of run go to the log of the folder.
func Supervise(run func(*log.Logger) error) int {
	// First: a replica that inherited the lock would make a dead app look alive.
	if err := closeOnExec(); err != nil {
		fmt.Fprintln(os.Stderr, "torchx agent:", err)
		return 1
	}
	// Received and dropped, since replicas would inherit signals that are ignored.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGPIPE)
	l := log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds)
	if err := run(l); err != nil {
		l.Print(err)
		return 1
	}
	return 0
}
