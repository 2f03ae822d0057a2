package podarchive

import (
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/sample"
	"torchx/runtime/spec"
)

// TestRecord records two attempts of a replica, whose pods use memory.
func TestRecord(t *testing.T) {
	t.Parallel()
	dir, now, attempts := t.TempDir(), time.Now(), map[spec.Replica]*measured{}
	g := &Source{App: New(Config{Dir: dir}), Log: t.Logf}
	memory := int64(64)
	pods := map[string]sample.Reading{"a": {Memory: &memory, Source: sample.Metrics}, "b": {Memory: &memory, Source: sample.Metrics}}
	first, second, side := run("a", 0), run("b", 1), run("a", 0)
	first.Created, second.Created, side.Container = now, now, "side"
	side.State, first.State = logcopy.Running, logcopy.Running
	pods[first.Pod], pods[second.Pod] = pods["a"], pods["b"]
	g.record(attempts, []Run{first, side}, pods, now.Add(20*time.Second))
	first.State, second.State = logcopy.Ended, logcopy.Running
	g.record(attempts, []Run{first, second}, pods, now.Add(40*time.Second))
	g.record(attempts, []Run{first, second}, nil, now.Add(60*time.Second)) // the cluster knows nothing
	all, err := sample.Read(dir)
	if err != nil || len(all) != 2 || all[0].Replica != first.Replica || all[1].Attempt != 1 {
		t.Fatalf("got %+v, %v, want a sample of each attempt", all, err)
	}
	for _, s := range all {
		if len(s.Samples) != 1 || *s.Samples[0].Memory != 64 || s.Samples[0].Source != sample.Metrics {
			t.Errorf("attempt %d: got %+v", s.Attempt, s.Samples)
		}
	}
}
