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

// TestStartLimits: run --wait ends an app that cannot start, in every form. The cluster keeps why.
func TestStartLimits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, tt := range map[string]struct {
		cfg   string
		flags []string
		image string
		want  string
	}{
		"a mistake":       {"image_pull_policy=Never", nil, "localhost/none:1", "it cannot start: replica r/0 waits: image localhost/none:1 cannot be pulled"},
		"no image":        {"", []string{"--pull-timeout", "1s"}, "localhost/none:1", "no image for 1s (--pull-timeout): replica r/0 waits: image localhost/none:1 cannot be pulled"},
		"no node is free": {"node_selector=no:such", []string{"--pending-timeout", "3s"}, "", "not started after 3s (--pending-timeout): "},
	} {
		for _, gang := range forms {
			t.Run(name+"/"+gang, func(t *testing.T) {
				t.Parallel()
				args := h.runArgs("reserved_millicpu=1000,gang="+gang+","+tt.cfg, "--script", "true")
				if tt.image != "" {
					args = append(args, "--image", tt.image)
				}
				r := h.torchx(append(append([]string{"run", "--wait"}, tt.flags...), args[1:]...)...)
				if r.code != spec.ExitNotStarted || !strings.Contains(r.stderr, tt.want) {
					t.Errorf("got %+v, want exit code %d and %q", r, spec.ExitNotStarted, tt.want)
				}
				s := h.status(strings.TrimSpace(r.stdout))
				if s.State != spec.Failed || !strings.Contains(s.Msg, tt.want) || s.ExitCode == nil || *s.ExitCode != spec.ExitNotStarted {
					t.Errorf("got %+v, want FAILED with exit code %d: %s", s, spec.ExitNotStarted, tt.want)
				}
			})
		}
	}
}
