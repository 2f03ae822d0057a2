package sweep

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/history"
	"torchx/runtime/spec"
	"torchx/runtime/sweep"
)

// loaded is a sweep as its bundle has it.
type loaded struct {
	manifest *agent.Manifest
	def      *sweep.Definition
	machine  *sweep.Machine
}

// load reads a sweep. Errors: backend.ErrNotFound.
func (b *Backend) load(id string) (*loaded, error) {
	bundle := b.Bundle(id)
	l, err := load(bundle, 0)
	if errors.Is(err, fs.ErrNotExist) || err == nil && l.manifest.Backend != Name {
		return nil, fmt.Errorf("app %s: %w", id, backend.ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read sweep %s: %w", id, err)
	}
	return l, nil
}

// load reads the sweep of a bundle. parallel is the number of trials at the same time, for a
// machine that decides.
func load(bundle agent.Bundle, parallel int) (*loaded, error) {
	m, err := bundle.Manifest()
	if err != nil {
		return nil, err
	}
	l := &loaded{manifest: m, def: &sweep.Definition{}}
	if err := json.Unmarshal(m.Request, l.def); err != nil {
		return nil, fmt.Errorf("read definition: %w", err)
	}
	if m.App == nil || len(m.App.Roles) != 1 {
		return nil, errors.New("read definition: a sweep has one role")
	}
	l.machine = sweep.NewMachine(sweep.MachineConfig{Trials: m.App.Roles[0].NumReplicas, Parallel: parallel, FailFast: l.def.FailFast})
	return l, replay(bundle.Dir, l.machine)
}

// Describe returns the status of a sweep. Its replicas are its trials.
func (b *Backend) Describe(ctx context.Context, id string) (*spec.Status, error) {
	s, err := b.Apps.Describe(ctx, id)
	return b.withTrials(id, s, err)
}

// Wait returns the terminal status of a sweep.
func (b *Backend) Wait(ctx context.Context, id string) (*spec.Status, error) {
	s, err := b.Apps.Wait(ctx, id)
	return b.withTrials(id, s, err)
}

// withTrials adds the trials to a status.
func (b *Backend) withTrials(id string, s *spec.Status, err error) (*spec.Status, error) {
	if err != nil {
		return s, err
	}
	l, err := b.load(id)
	if err != nil {
		return nil, err
	}
	full := *s
	if full.State == spec.Pending || full.State == spec.Running {
		addProgress(&full, l.machine) // the journal is ahead of the status
	}
	full.Roles = []spec.RoleStatus{l.role()}
	return &full, nil
}

// role returns the trials as replicas.
func (l *loaded) role() spec.RoleStatus {
	all := l.machine.Trials()
	role := spec.RoleStatus{Role: sweep.Role, Replicas: make([]spec.ReplicaStatus, len(all))}
	for i := range all {
		role.Replicas[i] = replicaOf(i, &all[i])
	}
	return role
}

func replicaOf(number int, t *sweep.TrialState) spec.ReplicaStatus {
	return spec.ReplicaStatus{
		ID: number, Role: sweep.Role, State: stateOf(t), ExitCode: t.Code, Attempt: t.Attempt,
		StartedAt: timeOf(t.Began), FinishedAt: timeOf(t.EndedAt), Msg: cmp.Or(t.Stopped, t.Msg),
	}
}

func stateOf(t *sweep.TrialState) spec.State {
	switch t.Phase {
	case sweep.Ended:
		return t.State
	case sweep.Running, sweep.Stopping:
		return spec.Running
	}
	return spec.Pending
}

// endedState returns the state and message of a trial of an ended sweep: its controller ended all
// of them, so one that has not ended is missing in a damaged journal.
func endedState(s spec.State, msg string) (spec.State, string) {
	if s.Terminal() {
		return s, msg
	}
	return spec.Unknown, "its end is missing in " + journalName + " of the sweep, which is damaged"
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// AppRecords adds the trials to the records of sweeps.
func (b *Backend) AppRecords(ctx context.Context, all bool) ([]backend.AppRecord, error) {
	records, err := b.Apps.AppRecords(ctx, all)
	for i := range records {
		if s, err := b.withTrials(records[i].ID, records[i].Status, nil); err == nil {
			records[i].Status = s
		}
	}
	return records, err
}

// Trials returns how a sweep stands.
func (b *Backend) Trials(ctx context.Context, id string) (*sweep.Snapshot, error) {
	status, err := b.Apps.Describe(ctx, id) // starts a controller again that died
	if err != nil {
		return nil, err
	}
	l, err := b.load(id)
	if err != nil {
		return nil, err
	}
	places, err := b.places(id, len(l.machine.Trials()))
	if err != nil {
		return nil, fmt.Errorf("read sweep %s: %w", id, err)
	}
	s := &sweep.Snapshot{Definition: l.def, Counts: l.machine.Count(), Best: -1}
	s.Halted, s.Reason = l.machine.Halted()
	s.Trials = make([]sweep.TrialStatus, len(places))
	for i := range places {
		s.Trials[i] = trialStatus(l.def, &places[i], &l.machine.Trials()[i])
		if t := &s.Trials[i]; status.State.Terminal() {
			t.State, t.Msg = endedState(t.State, t.Msg)
		}
	}
	b.liveValues(s)
	if l.def.Metric != "" {
		s.FindBest()
	}
	return s, nil
}

func trialStatus(d *sweep.Definition, place *sweep.Place, t *sweep.TrialState) sweep.TrialStatus {
	s := sweep.TrialStatus{
		Place: *place, State: stateOf(t), ExitCode: t.Code, Stopped: t.Stopped, Msg: t.Msg, Lost: t.Lost, Value: t.Value, Step: t.Step,
		StartedAt: timeOf(t.Began), FinishedAt: timeOf(t.EndedAt),
	}
	if t.App != "" {
		s.App = history.AppKey{Backend: d.Backend, ID: t.App}
	}
	return s
}

// places returns the first n trials without their apps. They are read once, since they never
// change.
func (b *Backend) places(id string, n int) ([]sweep.Place, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	dir := b.Bundle(id).Dir
	info, err := os.Stat(filepath.Join(dir, trialsName))
	if err != nil {
		return nil, err
	}
	if known := b.known[dir]; len(known.places) == n && os.SameFile(known.info, info) {
		return known.places, nil
	}
	t, err := openTrials(dir)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	places := make([]sweep.Place, n)
	for i := range places {
		if err := t.read(i, &places[i]); err != nil {
			return nil, err
		}
	}
	b.known[dir] = knownTrials{info, places}
	return places, nil
}

// knownTrials are the trials of a sweep that were read.
type knownTrials struct {
	info   os.FileInfo // of their file
	places []sweep.Place
}

// SweepOf returns what was submitted.
func (b *Backend) SweepOf(
	_ context.Context, id string,
) (*sweep.Definition, iter.Seq2[*sweep.Trial, error], error) {
	l, err := b.load(id)
	if err != nil {
		return nil, nil, err
	}
	return l.def, func(yield func(*sweep.Trial, error) bool) {
		t, err := openTrials(b.Bundle(id).Dir)
		if err != nil {
			yield(nil, fmt.Errorf("read sweep %s: %w", id, err))
			return
		}
		defer t.Close()
		for i := range l.machine.Trials() {
			one, err := t.trial(i)
			if !yield(one, err) || err != nil {
				return
			}
		}
	}, nil
}

// UsageDir returns why there are no samples: only trials use the machine.
func (b *Backend) UsageDir(context.Context, string) (dir, missing string) {
	return "", "a sweep itself uses next to nothing (torchx usage takes the handle of a trial, torchx status lists them)"
}
