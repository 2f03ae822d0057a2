package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"torchx/backends/supervised"
	"torchx/runtime/agent"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
)

func (f *fixture) retainedLog(k *backend.RetainedLogs, r spec.Replica, o backend.LogOptions) string {
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
			supervised.AwaitAgent(f.b.Bundle(id))
			o := backend.DeleteOptions{KeepLogs: true}
			all, err := f.b.Size(f.ctx, id, backend.DeleteOptions{})
			part, err2 := f.b.Size(f.ctx, id, o)
			k, err3 := f.b.RetainableLogs(f.ctx, id, o)
			if err := errors.Join(err, err2, err3); err != nil {
				t.Fatal(err)
			}
			if part <= 0 || all < part || cfg["log_dir"] == nil && all == part {
				t.Errorf("got %d bytes, %d without logs, want fewer without", all, part)
			}
			if err := f.b.Delete(f.ctx, id, o); err != nil {
				t.Fatal(err)
			}
			attempts := k.Roles[0].Attempts
			if len(k.Roles) != 1 || len(attempts) != 2 || max(attempts[0], attempts[1]) != 2 {
				t.Fatalf("kept %+v", k)
			}
			if got := f.retainedLog(k, spec.Replica{Role: "a b"}, backend.LogOptions{Tail: -1}); got != "hi\n" {
				t.Errorf("log is %q", got)
			}
			if _, err := f.b.OpenRetainedLogs(f.ctx, k, spec.Replica{Role: "a b", ID: 2}, backend.LogOptions{}); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("log of a missing replica: got %v, want ErrNotFound", err)
			}
			if _, err := f.b.Size(f.ctx, id, o); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("size after delete: got %v, want ErrNotFound", err)
			}
			if err := f.b.Delete(f.ctx, id, o); !errors.Is(err, backend.ErrNotFound) {
				t.Errorf("second delete: got %v, want ErrNotFound", err)
			}
		})
	}
}

func TestNoRetainedLogs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.run(nil, sh("a", 1, "echo hi"))
	if k, err := f.b.RetainableLogs(f.ctx, id, backend.DeleteOptions{}); k != nil || err != nil {
		t.Errorf("got %+v, %v, want none", k, err)
	}
}

// Keeping the logs of a second app with the same ID does not collide with those of the first.
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
		t.Errorf("the logs of both apps are in %s", dirs[0])
	}
}

// CleanUp finishes a deletion that was interrupted after its first step, and keeps the
// logs that were to be kept.
func TestInterruptedDeleteKeepsLogs(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id, _ := f.run(nil, sh("a", 1, "echo hi"))
	bundle := f.b.Bundle(id)
	supervised.AwaitAgent(bundle)
	trash, to := filepath.Join(f.home, "apps", ".old-1"), filepath.Join(f.home, "logs", id)
	err := errors.Join(os.Mkdir(trash, 0o700), os.Symlink(to, filepath.Join(trash, "keep-replicas")),
		os.Rename(bundle.Dir, filepath.Join(trash, "bundle")))
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(err, os.Chtimes(trash, old, old)); err != nil {
		t.Fatal(err)
	}
	agent.CleanUp(f.home)
	if data, err := os.ReadFile(filepath.Join(to, "a", "0", "0", "stdout.log")); string(data) != "hi\n" {
		t.Errorf("log is %q, %v", data, err)
	}
	if _, err := os.Stat(trash); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s still exists: %v", trash, err)
	}
}
