//go:build unix

package docker

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"torchx/runtime/spec"
)

// Containers have the limits, name servers and hosts of the options.
func TestContainerOptions(t *testing.T) {
	t.Parallel()
	needDocker(t, "with one ulimit it raises the others, which takes CAP_SYS_RESOURCE")
	f := onEngine(t, real)
	f.cfg = map[string]string{
		"platform": "linux/" + runtime.GOARCH, "ulimits": "nofile:1000:2000,core:0", "dns": "10.9.9.9", "extra_hosts": "db:10.0.0.9,six:fd00::9,gate:host-gateway",
	}
	id := f.start(shell(`echo "files $(ulimit -Sn) $(ulimit -Hn) core $(ulimit -Sc)"; cat /etc/resolv.conf /etc/hosts | tr '\t' ' '`))
	if s := f.wait(id); s.State != spec.Succeeded {
		t.Errorf("got %+v, want SUCCEEDED", s)
	}
	text, _ := f.log(id, 0)
	for _, want := range []string{"files 1000 2000 core 0\n", "10.0.0.9 db\n", "fd00::9 six\n", " gate\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %q, want it to contain %q", text, want)
		}
	}
	c, err := real.Client.ContainerInspect(f.ctx, id+"-r-0")
	if err != nil || !slices.Equal(c.HostConfig.DNS, []string{"10.9.9.9"}) {
		t.Errorf("name servers: got %q, %v", c.HostConfig.DNS, err)
	}
}

// An image of another platform counts as missing.
func TestOtherPlatform(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	f.cfg = map[string]string{"platform": "linux/s390x"}
	const want = "platform linux/s390x: image torchx-test:busybox-2 is not on the engine and pull=never forbids pulling"
	if err := f.b.Submit(f.ctx, f.plan(shell("true"))); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
