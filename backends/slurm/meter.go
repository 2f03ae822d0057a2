package slurm

import (
	"context"
	"os"
	"strconv"
	"strings"
	"time"

	"torchx/backends/slurm/folder"
	"torchx/runtime/agent"
	"torchx/runtime/procs"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// UsageDir returns the folder of an app, in which the processes that write its logs also record
// what its replicas use.
func (b *Backend) UsageDir(ctx context.Context, id string) (dir, missing string) {
	t, err := b.find(ctx, id)
	switch {
	case err != nil:
		return b.FolderOf(id), err.Error()
	case t.folder == "":
		return b.FolderOf(id), "torchx did not submit it: see `sstat -j " + id + "` and `sacct -j " + id + "`"
	case t.record == nil:
		return string(t.folder), t.hint()
	}
	return string(t.folder), ""
}

const (
	// pidEvery is how often meter looks whether the replica has started.
	pidEvery = 20 * time.Millisecond
	// batch is how many samples are written together after the age batchAge: a shared file system
	// is slow.
	batch    = 5
	batchAge = 10 * time.Second
)

// meter records what one attempt of a replica uses. It is best effort.
type meter struct {
	appDir  string
	replica spec.Replica
	attempt int
	pidFile string // has the process of the replica, once it runs
	gpus    agent.GPUMeter
}

// newMeter reads the arguments APPDIR ROLE REPLICA ATTEMPT PIDFILE; nil if they are others.
func newMeter(args []string) *meter {
	if len(args) != 5 {
		return nil
	}
	m := &meter{appDir: args[0], replica: spec.Replica{Role: args[1]}, pidFile: args[4]}
	var err error
	if m.replica.ID, err = strconv.Atoi(args[2]); err != nil {
		return nil
	}
	if m.attempt, err = strconv.Atoi(args[3]); err != nil {
		return nil
	}
	return m
}

// run records until ctx ends.
func (m *meter) run(ctx context.Context) {
	pid := m.await(ctx)
	if pid == 0 {
		return
	}
	track, file, tracker := sample.NewTrack(m.attempt, time.Now(), 0), sample.NewFile(m.appDir, m.replica), procs.NewTracker(1)
	devices := ownDevices(os.Environ())
	var pending []sample.Sample
	for last := false; !last; {
		select {
		case <-time.After(sample.MeasureEvery(track.Age(time.Now()))):
		case <-ctx.Done():
			last = true
		}
		now := time.Now()
		if tree, ok := tracker.Measure([]procs.Root{{PID: pid}})[pid]; ok {
			r := sample.OfTree(&tree)
			m.gpus.Add(&r, devices)
			track.Add(&r, now)
		}
		if next, ok := track.Take(now, file.Size(), last); ok {
			pending = append(pending, next)
		}
		if len(pending) == 0 || !last && len(pending) < batch && track.Age(now) > batchAge {
			continue
		}
		_ = file.Append(pending...) // a full disk must not disturb the log
		pending = nil
	}
	if track.Peak > 0 {
		_ = folder.Folder(m.appDir).NoteMemory(m.replica, m.attempt, track.Peak, track.Source)
	}
}

// ownDevices returns the GPUs that Slurm gave to a task alone: with several tasks on a node it
// names those of all of them.
func ownDevices(environ []string) []string {
	value := func(name string) (v string) {
		for _, kv := range environ {
			if after, ok := strings.CutPrefix(kv, name+"="); ok {
				v = after
			}
		}
		return v
	}
	if tasks, _, _ := strings.Cut(value("SLURM_STEP_TASKS_PER_NODE"), "("); tasks != "1" ||
		value("CUDA_VISIBLE_DEVICES") == "" {
		return nil
	}
	return strings.Split(value("CUDA_VISIBLE_DEVICES"), ",")
}

// await returns the process of the replica, 0 if it does not start.
func (m *meter) await(ctx context.Context) int {
	for {
		data, err := os.ReadFile(m.pidFile)
		if text, ok := strings.CutSuffix(string(data), "\n"); err == nil && ok {
			pid, _ := strconv.Atoi(text)
			return pid
		}
		select {
		case <-ctx.Done():
			return 0
		case <-time.After(pidEvery):
		}
	}
}
