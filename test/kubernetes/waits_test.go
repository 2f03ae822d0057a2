//go:build unix

package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// TestSomeWait: of an app that runs, wait says once why some replicas have not started.
func TestSomeWait(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.cluster.Create(t, h.namespace, `{apiVersion: v1, kind: ResourceQuota, metadata: {name: one}, spec: {hard: {pods: "1"}}}`)
	handle := h.start("gang=job,reserved_millicpu=1000,validate_spec=false", "--num_replicas", "2", "--script", "sleep 1000")
	h.eventually("one replica runs", func() bool { return h.status(handle).State == spec.Running })
	r := h.torchx("wait", "--timeout", "20", handle)
	if r.code != spec.ExitDeadline || strings.Count(r.stderr, "exceeded quota: one") != 1 || !strings.Contains(r.stderr, "is RUNNING: its pods cannot be created: ") {
		t.Errorf("got %+v, want the reason once", r)
	}
}

// TestLogWaits: log without -t says why the app that it waits for does not start.
func TestLogWaits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	handle := h.start("gang=job,reserved_millicpu=1000", "--image", "localhost/none:1")
	errs, err := os.Create(filepath.Join(h.work, "errs"))
	if err != nil {
		t.Fatal(err)
	}
	defer errs.Close()
	cmd := h.command("log", handle)
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.eventually("the reason", func() bool {
		text, err := os.ReadFile(errs.Name())
		return err == nil && strings.Contains(string(text), "is PENDING: replica r/0 waits: image localhost/none:1 cannot be pulled")
	})
	if r := h.torchx("cancel", handle); r.code != 0 {
		t.Errorf("cancel: got %+v, want exit code 0", r)
	}
	_ = cmd.Wait() // the app has no log
}
