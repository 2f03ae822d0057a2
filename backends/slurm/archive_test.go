//go:build unix

package slurm

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
	"torchx/test/slurmtest"
)

// startIn starts an app whose folder is not in the home.
func startIn(t *testing.T, cfg map[string]string, role spec.Role) *live {
	t.Helper()
	jobDir := t.TempDir()
	if cfg == nil {
		cfg = map[string]string{}
	}
	cfg["job_dir"] = jobDir
	return start(t, cfg, role)
}

// archived returns the copy of a log, "" if there is none.
func (l *live) archived(r spec.Replica) string {
	l.Helper()
	k := l.b.FindLogs(l.id, backend.Config{"job_dir": "/none"}, "/", nil)
	if k == nil {
		return ""
	}
	reader, err := l.b.OpenRetainedLogs(l.ctx, k, r, backend.LogOptions{Tail: -1, AllAttempts: true})
	if err != nil {
		return ""
	}
	defer reader.Close()
	return readAll(l, reader)
}

func readAll(l *live, r backend.LogReader) string {
	l.Helper()
	var text strings.Builder
	for {
		b, err := r.Next(l.ctx)
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			l.Fatal(err)
		}
		text.Write(b.Data)
	}
}

// TestArchive: with archive=true an agent copies all logs and records the end, and nothing of the
// app's folder is needed any more.
func TestArchive(t *testing.T) {
	t.Parallel()
	l := startIn(t, map[string]string{"archive": "true"}, shell("r", 2, "seq 5000; echo error >&2; printf tail"))
	l.wait(spec.Succeeded, 0)
	dir := archives.Dir(l.b.config.Home, l.id)
	slurmtest.Eventually(t, "the agent is done", func() bool { i, err := archives.Read(dir); return err == nil && i.Done })
	want := l.log("r", 1)
	if err := os.RemoveAll(string(l.folder())); err != nil {
		t.Fatal(err)
	}
	if _, err := l.b.Describe(l.ctx, l.id); !errors.Is(err, backend.ErrNotFound) {
		t.Errorf("status: got %v, want ErrNotFound", err)
	}
	if got := l.archived(spec.Replica{Role: "r", ID: 1}); got != want || len(got) < 20000 {
		t.Errorf("got %d bytes, want the %d of the log", len(got), len(want))
	}
}

// TestLook: a log that is followed is copied meanwhile.
func TestLook(t *testing.T) {
	t.Parallel()
	l := startIn(t, nil, shell("r", 1, "echo one; sleep 3; echo two"))
	r, err := l.b.Logs(l.ctx, l.id, spec.Replica{Role: "r"}, backend.LogOptions{Follow: true, Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	got := readAll(l, r)
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if copied := l.archived(spec.Replica{Role: "r"}); got != "one\ntwo\n" || copied != got {
		t.Errorf("got %q, copied %q, want both lines", got, copied)
	}
	if err := l.b.Delete(l.ctx, l.id, backend.DeleteOptions{}); err != nil {
		t.Error(err)
	}
	if copied := l.archived(spec.Replica{Role: "r"}); copied != "" {
		t.Errorf("after delete: got %q, want no copy", copied)
	}
}

// TestKeepLogs: Delete keeps the logs if it is asked to, and says where before.
func TestKeepLogs(t *testing.T) {
	t.Parallel()
	l := startIn(t, nil, shell("r", 1, "echo kept"))
	l.wait(spec.Succeeded, 0)
	o := backend.DeleteOptions{KeepLogs: true}
	k, err := l.b.RetainableLogs(l.ctx, l.id, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.b.Delete(l.ctx, l.id, o); err != nil {
		t.Fatal(err)
	}
	r, err := l.b.OpenRetainedLogs(l.ctx, k, spec.Replica{Role: "r"}, backend.LogOptions{Tail: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got := readAll(l, r); got != "kept\n" {
		t.Errorf("got %q, want the line", got)
	}
}

// TestUsage: the process that writes the log of a replica records what that uses.
func TestUsage(t *testing.T) {
	t.Parallel()
	l := start(t, nil, shell("a b", 1, "end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done"))
	l.wait(spec.Succeeded, 0)
	dir, missing := l.b.UsageDir(l.ctx, l.id)
	all, err := sample.Read(dir)
	if err != nil || missing != "" || len(all) != 1 || all[0].Replica.Role != "a b" {
		t.Fatalf("got %+v, %q, %v, want the samples of one replica", all, missing, err)
	}
	sum := sample.Summarize(all[0].Samples)
	if sum.CPUMean == nil || *sum.CPUMean <= 0 || sum.MemoryPeak == nil || *sum.MemoryPeak <= 0 {
		t.Errorf("got %+v, want CPU time and memory", sum)
	}
}

// TestCancelReason: the status says why an app was canceled, and who did it by scancel.
func TestCancelReason(t *testing.T) {
	t.Parallel()
	l := start(t, nil, shell("r", 1, "echo up; sleep 600"))
	l.waitLog("r", 0, "up")
	for _, reason := range []string{"a better trial was found\nsecond line", "later"} {
		if err := l.b.Cancel(l.ctx, l.id, backend.CancelOptions{Reason: reason}); err != nil {
			t.Fatal(err)
		}
	}
	if s := l.wait(spec.Cancelled, spec.ExitCancelled); s.Msg != "a better trial was found" {
		t.Errorf("got %q, want the first reason", s.Msg)
	}
	if !slurmtest.HasAccounting() {
		return
	}
	l = start(t, nil, shell("r", 1, "echo up; sleep 600"))
	l.waitLog("r", 0, "up")
	job, _ := l.folder().Job()
	if err := l.b.slurm.Cancel(l.ctx, job); err != nil {
		t.Fatal(err)
	}
	l.wait(spec.Cancelled, spec.ExitCancelled)
	slurmtest.Eventually(t, "the accounting says who canceled it", func() bool { return describe(t, l.b, l.id).Msg == "cancelled by "+userName() })
}
