//go:build unix

package kubernetes

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// away is how long the server is gone: longer than a TCP connection or a back-off
// that is not meant for it would bear.
const away = 20 * time.Second

// background is a command that runs beside the test.
type background struct {
	cmd       *exec.Cmd
	out, errs *bytes.Buffer
}

func (h *home) background(args ...string) *background {
	h.Helper()
	b := &background{h.command(args...), &bytes.Buffer{}, &bytes.Buffer{}}
	b.cmd.Stdout, b.cmd.Stderr = b.out, b.errs
	if err := b.cmd.Start(); err != nil {
		h.Fatal(err)
	}
	return b
}

// TestServerAway: wait and log -t, begun before the API server goes away for 20
// seconds, go on when it is back: no line is lost, none comes twice.
func TestServerAway(t *testing.T) {
	t.Parallel()
	const lines = 60
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			proxy := h.cluster.Proxy(t)
			h.env = append(h.env, "KUBECONFIG="+proxy.Kubeconfig) // of the app, from now on
			handle := h.start("gang="+gang, "--script", fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line $i; sleep 0.7; done; exit 7", lines))
			waiting, reading := h.background("wait", handle), h.background("log", "-t", handle)
			h.eventually("the first lines", func() bool { return strings.Contains(h.torchx("log", handle).stdout, "line 5") })
			proxy.Cut()
			time.Sleep(away)
			if err := proxy.Restore(); err != nil {
				t.Fatal(err)
			}
			if r := h.wait(waiting.cmd, waiting.out, waiting.errs); r.code != 7 {
				t.Errorf("wait: %+v, want r.code == 7", r)
			}
			r := h.wait(reading.cmd, reading.out, reading.errs)
			complete(t, "log -t", r.stdout, 1, lines, 0)
		})
	}
}

// TestManyLogs: the logs of 100 pods, followed at once while the API server is
// restarted, are complete, and every line is there once.
func TestManyLogs(t *testing.T) { // not beside others: it restarts their server
	h := newHome(t)
	const replicas, bursts, burst = 100, 60, 10
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do n=0; while [ $n -lt %d ]; do n=$((n+1)); echo line $((i*%[2]d+n)); done; i=$((i+1)); sleep 1; done", bursts, burst)
	handle := h.start("gang=job", "--num_replicas", strconv.Itoa(replicas), "--script", script)
	begun := time.Now()
	h.within(3*testTimeout, "all pods run", func() bool { n := h.phases(); return n["Running"]+n["Succeeded"] == replicas })
	t.Logf("%d pods run after %v: %v", replicas, time.Since(begun), h.phases())
	reading, count := h.background("log", "-t", handle), h.countPods()
	time.Sleep(5 * time.Second) // into the middle of the lines
	h.restartServer()
	r := h.wait(reading.cmd, reading.out, reading.errs)
	if r.code != 0 {
		t.Errorf("log -t: exit code %d, %s, want r.code == 0", r.code, r.stderr)
	}
	// A Job controller that has lost its server may start a replica twice, which
	// Kubernetes allows: then the lines of both pods are there, one after the other.
	twice := count() - replicas
	complete(t, "log -t", r.stdout, replicas, bursts*burst, twice)
	complete(t, "log", h.torchx("log", handle).stdout, replicas, bursts*burst, twice)
}

// countPods looks at the namespace's pods, as long as the server answers, until the
// function that it returns is called, which tells how many different ones there were.
func (h *home) countPods() func() int {
	ctx, cancel := context.WithCancel(context.Background())
	found := make(chan int)
	go func() {
		names := map[string]bool{}
		for ctx.Err() == nil {
			list, err := h.cluster.Of(h.namespace, "v1", "Pod").List(ctx, metav1.ListOptions{})
			for i := 0; err == nil && i < len(list.Items); i++ {
				names[list.Items[i].GetName()] = true
			}
			time.Sleep(time.Second)
		}
		found <- len(names)
	}()
	return func() int {
		cancel()
		return <-found
	}
}

// restartServer kills the API server of the test cluster, and starts it again.
func (h *home) restartServer() {
	h.Helper()
	if os.Getenv("K8S_STATE") == "" {
		h.Fatal("only the server of test/cluster can be restarted, and K8S_STATE is not set: run this by `make e2e-k8s`")
	}
	for _, args := range [][]string{{"stop", "apiserver"}, {"up"}} {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "../cluster/cluster.sh", args...).CombinedOutput(); err != nil {
			h.Fatalf("cluster.sh %s: %v\n%s", args, err, out)
		}
	}
}

// complete checks that each replica's lines are "line 1" to "line n", each once, in
// order; twice is how many replicas may begin again.
func complete(t *testing.T, what, text string, replicas, lines, twice int) {
	t.Helper()
	got := make([]int, replicas)
	for line := range strings.Lines(text) {
		prefix, rest, _ := strings.Cut(line, " line ")
		id := 0
		if _, number, ok := strings.Cut(prefix, "/"); ok {
			id, _ = strconv.Atoi(number)
		}
		n, err := strconv.Atoi(strings.TrimSpace(rest))
		if n == 1 && id < replicas && got[id] > 0 && twice > 0 {
			t.Logf("%s: replica %d begins again after line %d", what, id, got[id])
			twice--
			got[id] = 0
		}
		if err != nil || id >= replicas || n != got[id]+1 {
			t.Fatalf("%s: replica %d has %q after line %d", what, id, line, got[id])
		}
		got[id]++
	}
	for id, n := range got {
		if n != lines {
			t.Errorf("%s: replica %d has %d lines, want %d", what, id, n, lines)
		}
	}
}
