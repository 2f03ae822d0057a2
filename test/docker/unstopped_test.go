//go:build unix

package docker

import (
	"regexp"
	"testing"

	"torchx/runtime/spec"
)

// TestUnstopped: without an init PID 1 ignores SIGTERM. A cancel that waits says so after 5 s, names
// the replicas and when they are killed; with an init they end at once.
func TestUnstopped(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	said := regexp.MustCompile(`(?m)^torchx: r/0, r/1 have not stopped after 5s: SIGKILL ends them in 2s \(.*torchx cancel --force \S+.* kills them now\)$`)
	for cfg, silent := range map[string]bool{"init=false": false, "init=true": true} {
		r := h.torchx("run", "-d", "-b", "docker", "-cfg", "pull=never,grace_period=7,"+cfg, "t.star:app", "--num_replicas", "2", "--script", "sleep 600")
		if r.code != 0 {
			t.Fatalf("%s: %+v", cfg, r)
		}
		c := h.torchx("cancel", "--wait", "-")
		if c.code != 0 || said.MatchString(c.stderr) == silent {
			t.Errorf("%s: got %+v, want the replicas to be named: %v", cfg, c, !silent)
		}
		if all := h.list("docker"); len(all) == 0 || all[0].State != spec.Cancelled {
			t.Errorf("%s: got %+v, want CANCELLED", cfg, all)
		}
	}
}
