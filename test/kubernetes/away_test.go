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

// away is how long the server is unreachable: longer than a TCP connection or a usual
// back-off lasts.
const away = 20 * time.Second

// background is a command that runs in the background.
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

// TestServerAway: wait and log -t survive 20 seconds without the API server: no line is lost
// or repeated.
func TestServerAway(t *testing.T) {
	t.Parallel()
	const lines = 60
	for _, gang := range forms {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			proxy := h.cluster.Proxy(t)
			h.env = append(h.env, "KUBECONFIG="+proxy.Kubeconfig) // the kubeconfig of the app from now on
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

// TestManyLogs: the logs of 100 pods, followed together while the API server restarts, have
// every line once.
func TestManyLogs(t *testing.T) { // not parallel: it restarts the server of all tests
	h := newHome(t)
	const replicas, bursts, burst = 100, 60, 10
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do n=0; while [ $n -lt %d ]; do n=$((n+1)); echo line $((i*%[2]d+n)); done; i=$((i+1)); sleep 1; done", bursts, burst)
	handle := h.start("gang=job", "--num_replicas", strconv.Itoa(replicas), "--script", script)
	begun := time.Now()
	h.within(3*testTimeout, "all pods run", func() bool { n := h.phases(); return n["Running"]+n["Succeeded"] == replicas })
	t.Logf("%d pods run after %v: %v", replicas, time.Since(begun), h.phases())
	reading, count := h.background("log", "-t", handle), h.countPods()
	time.Sleep(5 * time.Second) // restart in the middle of the lines
	h.restartServer()
	r := h.wait(reading.cmd, reading.out, reading.errs)
	if r.code != 0 {
		t.Errorf("log -t: exit code %d, %s, want r.code == 0", r.code, r.stderr)
	}
	// A Job controller that loses its server may start a replica twice, which Kubernetes
	// allows. The log then has the lines of both pods, one after the other.
	twice := count() - replicas
	complete(t, "log -t", r.stdout, replicas, bursts*burst, twice)
	complete(t, "log", h.torchx("log", handle).stdout, replicas, bursts*burst, twice)
}

// countPods polls the namespace's pods until the returned function is called, which returns
// the number of different pods.
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

// restartServer kills and restarts the API server of the test cluster.
func (h *home) restartServer() {
	h.Helper()
	if os.Getenv("K8S_STATE") == "" {
		h.Fatal("K8S_STATE is not set, so the cluster is not one of test/cluster: run this test by `make e2e-k8s`")
	}
	for _, args := range [][]string{{"stop", "apiserver"}, {"up"}} {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "../cluster/cluster.sh", args...).CombinedOutput(); err != nil {
			h.Fatalf("cluster.sh %s: %v\n%s", args, err, out)
		}
	}
}

// complete checks that each replica's lines are "line 1" to "line n", each once, in order.
// Up to twice replicas may begin again.
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
			t.Fatalf("%s: replica %d: got %q after line %d", what, id, line, got[id])
		}
		got[id]++
	}
	for id, n := range got {
		if n != lines {
			t.Errorf("%s: replica %d: got %d lines, want %d", what, id, n, lines)
		}
	}
}
