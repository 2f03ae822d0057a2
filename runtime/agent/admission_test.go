//go:build unix

package agent

import (
	"context"
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/filelock"
	"torchx/runtime/machine"
	"torchx/runtime/spec"
)

// applicant is a live app that requests admission to a machine of 4 CPUs and 3 GPUs.
type applicant struct {
	*admission
	lock *filelock.Lock // closing it simulates the death of the agent
}

func apply(t *testing.T, home, id string, cpus float64, gpus int, queue bool) applicant {
	t.Helper()
	m := &Manifest{
		ID: id, Backend: "local", Handle: "local://torchx/" + id, Home: home,
		App:       &spec.App{Name: id, Roles: []spec.Role{{Name: "r", NumReplicas: 1, Resource: spec.Resource{CPU: cpus, MemMB: -1, GPU: -1}}}},
		Placement: Placement{Queue: queue, GPUs: []machine.GPU{{ID: "0"}, {ID: "1"}, {ID: "2"}}},
	}
	if gpus > 0 {
		m.Devices = &DeviceRequest{Variable: "CUDA_VISIBLE_DEVICES", Replicas: []ReplicaDevice{{"r", 0, gpus}}}
	}
	b, lock, err := Create(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { lock.Close() })
	ad, err := newAdmission(b, m, Config{
		OpenStore: func(context.Context, string) (Store, error) { return nil, errors.New("no history") },
		Total:     func() (machine.Size, error) { return machine.Size{CPU: 4}, nil },
	}, log.New(io.Discard, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	return applicant{ad, lock}
}

// admit expects the app to be admitted with devices.
func (a applicant) admit(t *testing.T, enter bool, devices ...string) {
	t.Helper()
	v, err := a.decideOnce(enter)
	if err != nil || v.allocation == nil {
		t.Fatalf("%s: got %+v, %v, want an allocation", a.manifest.ID, v, err)
	}
	var got []string
	for _, d := range v.allocation.Devices {
		got = append(got, d.Devices...)
	}
	if !slices.Equal(got, devices) {
		t.Errorf("%s: got devices %v, want %v", a.manifest.ID, got, devices)
	}
}

// wait expects the app to wait for a reason.
func (a applicant) wait(t *testing.T, enter bool, reason string) {
	t.Helper()
	v, err := a.decideOnce(enter)
	if err != nil || v.allocation != nil || v.waitReason != reason {
		t.Errorf("%s: got %+v, %v, want to wait: %s", a.manifest.ID, v, err, reason)
	}
}

// end ends the app as an agent does: entry first, then lock.
func (a applicant) end() {
	a.bundle.supervisor().RemoveEntry()
	a.lock.Close()
}

func TestQueueKeepsTheOrder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first, large, small := apply(t, home, "first", 2, 0, true), apply(t, home, "large", 3, 0, true), apply(t, home, "small", 1, 0, true)
	first.admit(t, true)
	large.wait(t, true, "queued: waits for 3 CPUs (2 of 4 free)")
	small.wait(t, true, "queued: needs 1 CPU, behind local://torchx/large")
	first.end()
	small.wait(t, false, "queued: needs 1 CPU, behind local://torchx/large")
	large.admit(t, false)
	small.admit(t, false)
	if all, err := readQueue(home); err != nil || len(all) != 0 {
		t.Errorf("got the queue %v, %v, want none", all, err)
	}
}

// TestQueueSkipsDeadApps: an entry whose app has ended delays no app behind it.
func TestQueueSkipsDeadApps(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	first, second, third := apply(t, home, "first", 4, 0, true), apply(t, home, "second", 4, 0, true), apply(t, home, "third", 4, 0, true)
	first.admit(t, true)
	second.wait(t, true, "queued: waits for 4 CPUs (0 of 4 free)")
	third.wait(t, true, "queued: needs 4 CPUs, behind local://torchx/second")
	second.end()
	third.wait(t, false, "queued: waits for 4 CPUs (0 of 4 free)")
	first.end()
	third.admit(t, false)
}

func TestDevicesGoToOneApp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	one, two, more := apply(t, home, "one", 0, 1, false), apply(t, home, "two", 0, 1, false), apply(t, home, "more", 0, 2, false)
	one.admit(t, false, "0")
	two.admit(t, false, "1")
	_, err := more.decideOnce(false)
	want := "the app asks for 2 GPUs, 1 of 3 free (local://torchx/one holds 0; local://torchx/two holds 1): wait until they end, or run with --queue"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	one.end()
	more.admit(t, false, "0", "2")
	queued := apply(t, home, "queued", 0, 1, true)
	queued.wait(t, true, "queued: waits for 1 GPU (0 of 3 free)")
}

// TestAdmissionAfterTheEnd: an app that ended while it waited is not admitted.
func TestAdmissionAfterTheEnd(t *testing.T) {
	t.Parallel()
	a := apply(t, t.TempDir(), "a", 1, 0, true)
	a.withdrawn.Store(true)
	if v, err := a.decideOnce(true); err == nil || v.allocation != nil {
		t.Errorf("got %+v, %v, want an error", v, err)
	}
}

func TestDevicesThatNeverFit(t *testing.T) {
	t.Parallel()
	visible := "1"
	r := &DeviceRequest{Variable: "CUDA_VISIBLE_DEVICES", Visible: &visible, Replicas: []ReplicaDevice{{"r", 0, 2}}}
	p := devicePool{total: 3, allowed: []machine.GPU{{ID: "1"}}}
	want := "the app asks for 2 GPUs, but CUDA_VISIBLE_DEVICES=1 allows 1 of 3"
	if err := p.checkLimit(r); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := p.checkLimit(nil); err != nil {
		t.Errorf("no request: got %v, want nil", err)
	}
}

// TestRemoveKeepsAFolder: Remove moves the folder, deletes the bundle and leaves nothing
// behind.
func TestRemoveKeepsAFolder(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	a := apply(t, home, "a", 1, 0, false)
	if err := makePrivate(filepath.Join(a.bundle.Dir, "replicas")); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(home, "kept", "a")
	if err := a.bundle.Remove(&Keep{Folder: "replicas", To: kept}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err != nil || a.bundle.Exists() {
		t.Errorf("after Remove: got kept folder %v, bundle exists %v, want the folder alone", err, a.bundle.Exists())
	}
	if left, err := filepath.Glob(filepath.Join(appsDir(home), ".old-*")); err != nil || len(left) != 0 {
		t.Errorf("got %v, %v left behind, want nothing", left, err)
	}
	if err := a.bundle.Remove(nil); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("second Remove: got %v, want not found", err)
	}
}
