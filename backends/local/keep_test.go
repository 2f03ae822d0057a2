package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torchx/backends/bundled"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func (f *fixture) kept(k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions) string {
	f.Helper()
	reader, err := f.b.OpenRetainedLogs(f.ctx, k, r, o)
	if err != nil {
		f.Fatal(err)
	}
	defer reader.Close()
	var text string
	for b, err := reader.Next(f.ctx); err == nil; b, err = reader.Next(f.ctx) {
		text += string(b.Data)
	}
	return text
}

func TestKeptLogs(t *testing.T) {
	t.Parallel()
	for name, cfg := range map[string]backend.Config{"in the bundle": {"fail_fast": false}, "in a log_dir": {"fail_fast": false, "log_dir": t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			r := sh("a b", 2, "echo hi; exit 1")
			r.MaxRetries, r.RetryPolicy = 1, spec.RetryReplica
			id, _ := f.run(cfg, r)
			bundled.AwaitAgent(f.b.Bundle(id))
			o := backend.DeleteOptions{KeepLogs: true}
			all, err := f.b.Size(f.ctx, id, backend.DeleteOptions{})
			part, err2 := f.b.Size(f.ctx, id, o)
			k, err3 := f.b.RetainableLogs(f.ctx, id, o)
			if err := errors.Join(err, err2, err3); err != nil {
				t.Fatal(err)
			}
			if part <= 0 || all < part || cfg["log_dir"] == nil && all == part {
				t.Errorf("%d bytes, %d without its logs", all, part)
			}
			if err := f.b.Delete(f.ctx, id, o); err != nil {
				t.Fatal(err)
			}
			begun := k.Roles[0].Attempts
			if len(k.Roles) != 1 || len(begun) != 2 || max(begun[0], begun[1]) != 2 {
				t.Fatalf("kept %+v", k)
			}
			if got := f.kept(k, spec.Replica{Role: "a b"}, backend.LogOptions{Tail: -1}); got != "hi\n" {
				t.Errorf("log is %q", got)
			}
			if _, err := f.b.OpenRetainedLogs(f.ctx, k, spec.Replica{Role: "a b", ID: 2}, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("a replica there is not: %v", err)
			}
			if _, err := f.b.Size(f.ctx, id, o); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("size afterwards: %v", err)
			}
			if err := f.b.Delete(f.ctx, id, o); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("second delete: %v", err)
			}
		})
	}
}

func TestNothingKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.run(nil, sh("a", 1, "echo hi"))
	if k, err := f.b.RetainableLogs(f.ctx, id, backend.DeleteOptions{}); k != nil || err != nil {
		t.Errorf("%+v, %v", k, err)
	}
}

// A second app of the same id must not fail over the logs of the first.
func TestKeptLogsOfTheSameID(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var dirs []string
	for range 2 {
		f.next = 0
		id, _ := f.run(nil, sh("a", 1, "echo hi"))
		k, err := f.b.RetainableLogs(f.ctx, id, backend.DeleteOptions{KeepLogs: true})
		if err == nil {
			err = f.b.Delete(f.ctx, id, backend.DeleteOptions{KeepLogs: true})
		}
		if err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, k.Dir)
	}
	for _, d := range dirs {
		if _, err := os.Stat(filepath.Join(d, "a", "0", "0", "stdout.log")); err != nil {
			t.Error(err)
		}
	}
	if dirs[0] == dirs[1] {
		t.Errorf("both in %s", dirs[0])
	}
}

// A deletion that was cut short behind its first step is finished by a clean-up,
// which must not take the logs that were to stay.
func TestInterruptedKeepLosesNoLogs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.run(nil, sh("a", 1, "echo hi"))
	bundle := f.b.Bundle(id)
	bundled.AwaitAgent(bundle)
	trash, to := filepath.Join(f.home, "apps", ".old-1"), filepath.Join(f.home, "logs", id)
	err := errors.Join(os.Mkdir(trash, 0o700), os.Symlink(to, filepath.Join(trash, "keep-replicas")),
		os.Rename(bundle.Dir, filepath.Join(trash, "bundle")))
	long := time.Now().Add(-time.Hour)
	if err := errors.Join(err, os.Chtimes(trash, long, long)); err != nil {
		t.Fatal(err)
	}
	agent.CleanUp(f.home)
	if data, err := os.ReadFile(filepath.Join(to, "a", "0", "0", "stdout.log")); string(data) != "hi\n" {
		t.Errorf("log is %q, %v", data, err)
	}
	if _, err := os.Stat(trash); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
}
