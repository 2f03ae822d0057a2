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

	"torchx/runtime/backend"
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
	return superviseBundle(dir, func(s *supervision) error {
		launcher, err := c.NewLauncher(s.bundle, s.manifest)
		if err != nil {
			return err
		}
		a, err := newAgent(s.bundle, s.manifest, launcher, s.ready, s.log)
		if err != nil {
			return err
		}
		a.config, a.record.reserve, a.events.signals = c, s.reserve, s.signals
		a.reports.recorder = s.newRecorder(c.OpenStore)
		ticker := time.NewTicker(deletedInterval)
		defer ticker.Stop()
		a.events.checkDeleted = ticker.C
		a.ending.isResuming = s.manifest.Containers && s.replaces
		return a.run()
	})
}

// supervision is what a supervisor has of its bundle when it begins.
type supervision struct {
	bundle   Bundle
	manifest *Manifest
	log      *log.Logger
	ready    *os.File       // answers the submitter
	signals  chan os.Signal // SIGTERM and SIGINT
	reserve  *reserve
	replaces bool // a former supervisor of the bundle has ended
}

// superviseBundle is the main function of the supervisor of a bundle: it calls run with the lock
// held and returns the process's exit code. The submitter receives the error of run.
func superviseBundle(dir string, run func(*supervision) error) int {
	return Supervise(func(l *log.Logger) error {
		s := &supervision{bundle: Bundle{dir}, log: l, ready: os.NewFile(readyFD, "ready"), signals: make(chan os.Signal, 16)}
		signal.Notify(s.signals, syscall.SIGTERM, syscall.SIGINT)
		lock := os.NewFile(lockFD, lockFile)
		err := s.begin(lock)
		if err == nil {
			err = run(s)
			s.reserve.release()
			err = errors.Join(err, lock.Close())
		}
		if err != nil {
			_, _ = s.ready.Write(readyAnswer{Code: spec.ExitNotStarted, Error: err.Error()}.encode()) // the submitter may be gone
		}
		return err
	})
}

// begin writes this process into the lock and reads the manifest.
func (s *supervision) begin(lock *os.File) error {
	if lock == nil {
		return errors.New("the lock is missing (start agents with `torchx run`)")
	}
	h, err := readHolder(s.bundle.path(lockFile))
	if err != nil {
		return err
	}
	if s.manifest, err = s.bundle.Manifest(); err != nil {
		return err
	}
	s.replaces = h.PID != 0
	h.PID = os.Getpid()
	if err := writeHolder(lock, h); err != nil {
		return err
	}
	s.reserve = &reserve{s.bundle}
	if s.replaces { // the former one may have used it
		s.reserve = newReserve(s.bundle, s.manifest.ownReplicas())
	}
	return nil
}

// newRecorder returns the recorder of the app's statuses.
func (s *supervision) newRecorder(open StoreOpener) *recorder {
	return newRecorder(NewHistory(s.manifest.Home, open), s.manifest.Backend, s.manifest.ID, s.log)
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

func newAgent(
	b Bundle, m *Manifest, launcher Launcher, ready io.WriteCloser, l *log.Logger,
) (*agent, error) {
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
	a := &agent{
		bundle: b, manifest: m, policy: p, launcher: launcher,
		log:     l,
		sampler: newSampler(b.Dir, launcher, l),
		network: network{prober: newProber(), ports: newPorts()},
		events:  events{tasks: make(chan func(), 64), closed: make(chan struct{})},
		record:  record{starts: starts, exits: exits, bootID: BootID(), clock: clock{last: m.SubmittedAt}},
		reports: reports{submitter: ready},
		ending:  ending{grace: m.GracePeriod},
	}
	if reporter, ok := launcher.(ConditionReporter); ok {
		a.events.conditions = reporter.Conditions()
	}
	return a, nil
}

// StoreOpener opens the history of a home.
type StoreOpener func(ctx context.Context, home string) (Store, error)

// Config is what the agent needs from its backend and from the program.
type Config struct {
	NewLauncher func(b Bundle, m *Manifest) (Launcher, error)
	OpenStore   StoreOpener
	// Await waits until another app has ended as a manifest with After requires. Errors:
	// *backend.UnmetError, that of ctx, or why it cannot be waited for.
	Await func(ctx context.Context, m *Manifest, a backend.After) error
	// Total returns the resources that queued apps share, except GPUs; nil: the machine's.
	Total func() (machine.Size, error)
}
