//go:build unix

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors that the submitter passes on.
const (
	lockFD  = 3
	readyFD = 4
)

// Main is the agent process: it runs the app of a bundle to its end. It expects
// the descriptors that Spawn passes and returns the process's exit code.
func Main(dir string, c Config) int {
	// First of all: a replica that inherited the lock would keep a dead app alive.
	if err := closeOnExec(); err != nil {
		fmt.Fprintln(os.Stderr, "torchx agent:", err)
		return 1
	}
	l := log.New(os.Stderr, "", log.LstdFlags|log.Lmicroseconds)
	ready := os.NewFile(readyFD, "ready")
	if err := runBundle(Bundle{dir}, c, ready, l); err != nil {
		l.Print(err)
		fmt.Fprintf(ready, "%s\n", readyAnswer{Code: 125, Error: err.Error()}.encode())
		return 1
	}
	return 0
}

func runBundle(b Bundle, c Config, ready *os.File, l *log.Logger) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT)
	// Taken and dropped: replicas would inherit signals that are ignored.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP, unix.SIGPIPE)
	lock := os.NewFile(lockFD, lockFile)
	if lock == nil {
		return errors.New("start it by `torchx run`: the lock is missing")
	}
	defer lock.Close()
	h, err := readHolder(b.path(lockFile))
	if err != nil {
		return err
	}
	m, err := b.Manifest()
	if err != nil {
		return err
	}
	adopts := m.Containers && h.PID != 0
	h.PID = os.Getpid()
	if err := writeHolder(lock, h); err != nil {
		return err
	}
	launcher, err := c.NewLauncher(b, m)
	if err != nil {
		return err
	}
	a, err := newAgent(b, m, launcher, ready, l)
	if err != nil {
		return err
	}
	a.config = c
	a.recorder = newRecorder(func(ctx context.Context) (Store, error) { return c.OpenStore(ctx, m.Home) }, m.Backend, m.ID, l)
	look := time.NewTicker(deletedInterval)
	defer look.Stop()
	a.look = look.C
	a.reserve = newReserve(b, len(a.gang.replicas))
	defer a.reserve.release()
	a.signals, a.adopts = signals, adopts
	return a.run()
}

// writeHolder replaces the lock's content with one write, which a kill cannot cut
// in two; spaces cover what is left of a longer one.
func writeHolder(lock *os.File, h holder) error {
	text := h.encode()
	info, err := lock.Stat()
	if err == nil {
		text = append(text, bytes.Repeat([]byte{' '}, max(0, int(info.Size())-len(text)))...)
		_, err = lock.WriteAt(text, 0)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", lockFile, err)
	}
	return nil
}

func newAgent(b Bundle, m *Manifest, launcher Launcher, ready io.WriteCloser, l *log.Logger) (*agent, error) {
	starts, err := openJournal(b.path(startsFile), false)
	if err != nil {
		return nil, err
	}
	exits, err := openJournal(b.path(exitsFile), true)
	if err != nil {
		return nil, errors.Join(err, starts.Close())
	}
	return &agent{
		bundle: b, manifest: m, gang: newGang(m.App, m.FailFast), launcher: launcher,
		starts: starts, exits: exits, ready: ready, log: l, ports: newPorts(), prober: newProber(), bootID: BootID(),
		later: make(chan func(), 64), closed: make(chan struct{}), grace: m.GracePeriod,
		clock: clock{last: m.SubmittedAt},
	}, nil
}
