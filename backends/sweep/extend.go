package sweep

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"torchx/backends/supervised"
	"torchx/runtime/failpoint"
	"torchx/runtime/filelock"
	"torchx/runtime/safefile"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// Extend adds trials to a sweep that has ended, and starts its controller again.
func (b *Backend) Extend(ctx context.Context, id string, e sweep.Extension) error {
	s, err := b.Apps.Describe(ctx, id)
	if err != nil {
		return err
	}
	if !s.State.Terminal() {
		return fmt.Errorf("sweep %s is %s: wait for its end, or cancel it", id, s.State)
	}
	running := *s
	running.State, running.ExitCode, running.FinishedAt, running.FirstFailure, running.Msg = spec.Running, nil, nil, nil, ""
	bundle := b.Bundle(id)
	supervised.AwaitAgent(bundle)
	err = bundle.Reopen(b.Exe, &running, func() error {
		if e.Reopen != nil {
			e.Reopen()
		}
		failpoint.Hit(failpoint.SweepExtending)
		l, err := b.load(id)
		if err == nil {
			err = extend(bundle.Dir, l.machine, e)
		}
		failpoint.Hit(failpoint.SweepExtended)
		return err
	})
	if errors.Is(err, filelock.ErrHeld) {
		return fmt.Errorf("sweep %s is just ending, or another command extends it: try again", id)
	}
	return err
}

// extend adds the trials first, then the event by which they count: a kill in between leaves
// trials that the next extension overwrites.
func extend(dir string, m *sweep.Machine, e sweep.Extension) error {
	n := len(m.Trials())
	for i := range e.Trials {
		if err := check(&e.Trials[i], n+i); err != nil {
			return err
		}
	}
	if err := appendTrials(dir, n, e.Trials); err != nil {
		return fmt.Errorf("write %s: %w", trialsName, err)
	}
	j, err := openJournal(dir)
	if err != nil {
		return err
	}
	event := sweep.Event{Kind: sweep.Extend, Trials: len(e.Trials), Failed: e.Failed, Time: failpoint.Now()}
	return errors.Join(j.append(true, event), j.Close())
}

// appendTrials writes trials behind the first n.
func appendTrials(dir string, n int, trials []sweep.Trial) error {
	old, err := openTrials(dir)
	if err != nil {
		return err
	}
	defer old.Close()
	if len(old.ends) < n {
		return fmt.Errorf("it has %d trials of %d: the file was changed", len(old.ends), n)
	}
	f, err := safefile.OpenFile(filepath.Join(dir, trialsName), os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = f.Truncate(old.end(n - 1))
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	if err == nil {
		err = encode(w, trials)
	}
	return errors.Join(err, w.Flush(), f.Sync(), f.Close())
}
