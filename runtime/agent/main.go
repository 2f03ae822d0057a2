package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"

	"torchx/runtime/machine"
	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

// Descriptors that the submitter passes on.
const (
	lockFD  = 3
	readyFD = 4
)

// deletedInterval is how often an agent checks that its bundle still exists. Watching it
// would take one of about 128 watches per user; a command that finds the folder missing
// signals the agent as well.
const deletedInterval = 5 * time.Second

// Main is the agent process: it runs the app of a bundle to its end. It expects
// the descriptors that Spawn passes and returns the process's exit code.
func Main(dir string, c Config) int {
	return Supervise(func(l *log.Logger) error {
		ready := os.NewFile(readyFD, "ready")
		err := runBundle(Bundle{dir}, c, ready, l)
		if err != nil {
			_, _ = ready.Write(readyAnswer{Code: spec.ExitNotStarted, Error: err.Error()}.encode()) // the submitter may be gone
		}
		return err
	})
}

func runBundle(b Bundle, c Config, ready *os.File, l *log.Logger) error {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	lock := os.NewFile(lockFD, lockFile)
	if lock == nil {
		return errors.New("the lock is missing (start agents with `torchx run`)")
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
	a.recorder = newRecorder(NewHistory(m.Home, c.OpenStore), m.Backend, m.ID, l)
	ticker := time.NewTicker(deletedInterval)
	defer ticker.Stop()
	a.checkDeleted = ticker.C
	a.reserve = newReserve(b, len(a.policy.Replicas))
	defer a.reserve.release()
	a.signals, a.isResuming = signals, adopts
	return a.run()
}

// writeHolder replaces the lock's content with one write, which a kill cannot cut in two;
// spaces overwrite the rest of a longer content.
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
	p := policy.New(m.App, m.FailFast)
	p.Random = rand.Float64
	return &agent{
		bundle: b, manifest: m, policy: p, launcher: launcher,
		log:     l,
		sampler: newSampler(b.Dir, launcher, l),
		network: network{prober: newProber(), ports: newPorts()},
		events:  events{tasks: make(chan func(), 64), closed: make(chan struct{})},
		record:  record{starts: starts, exits: exits, bootID: BootID(), clock: clock{last: m.SubmittedAt}},
		reports: reports{submitter: ready},
		ending:  ending{grace: m.GracePeriod},
	}, nil
}

// StoreOpener opens the history of a home.
type StoreOpener func(ctx context.Context, home string) (Store, error)

// Config is what the agent needs from its backend and from the program.
type Config struct {
	NewLauncher func(b Bundle, m *Manifest) (Launcher, error)
	OpenStore   StoreOpener
	// Total returns the resources that queued apps share, except GPUs; nil: the machine's.
	Total func() (machine.Size, error)
}
