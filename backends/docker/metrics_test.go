//go:build unix

package docker

import (
	"testing"

	"github.com/docker/docker/api/types/container"

	"torchx/runtime/agent"
	"torchx/runtime/metrics"
	"torchx/runtime/spec"
)

// TestMetrics: containers append metrics to a file of this machine, whatever their user, and each
// attempt to its own.
func TestMetrics(t *testing.T) {
	t.Parallel()
	needEngine(t)
	f := onEngine(t, real)
	r := shell(`echo '{"step": 1, "loss": 0.5}' >>$TORCHX_METRICS; test $(wc -l <$TORCHX_METRICS) = 1 && test -e $TORCHX_OUTPUT/again || ! touch $TORCHX_OUTPUT/again`)
	r.MaxRetries = 1
	p := f.plan(r)
	p.Request.(*Request).Containers[0].Config.User = "12345:12345"
	if err := f.b.Submit(f.ctx, p); err != nil {
		t.Fatal(err)
	}
	if s := f.wait(p.ID); s.State != spec.Succeeded || s.NumRestarts != 1 {
		t.Fatalf("got %s, %d restarts: %s", s.State, s.NumRestarts, s.Msg)
	}
	if err := f.b.CollectMetrics(f.ctx, p.ID, p.App, true); err != nil {
		t.Fatal(err)
	}
	all, err := metrics.Summaries(f.b.FolderOf(p.ID))
	if err != nil || len(all) != 1 || all[0].Count != 2 || all[0].Segments != 2 || all[0].Last != 0.5 {
		t.Errorf("got %+v, %v, want a segment of one point for each attempt", all, err)
	}
}

// TestMetricsOfRemoteEngine: no file of this machine reaches containers elsewhere, so metrics are
// in their output.
func TestMetricsOfRemoteEngine(t *testing.T) {
	t.Parallel()
	l := &launcher{appContainers: appContainers{inLog: true}}
	c := &Container{Name: "x", Config: &container.Config{}}
	l.addMetrics(c, agent.Start{})
	if got := environment(c.Config.Env, spec.MetricsVariable); got != spec.MetricsInLog || c.HostConfig != nil {
		t.Errorf("got %q and mounts %+v, want the output and no mount", got, c.HostConfig)
	}
	c.Config.Env = []string{spec.MetricsVariable + "=/own"}
	l.addMetrics(c, agent.Start{})
	if len(c.Config.Env) != 1 {
		t.Errorf("got %q, want the role's own file only", c.Config.Env)
	}
}
