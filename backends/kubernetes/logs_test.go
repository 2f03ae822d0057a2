package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/clustertest"
	"torchx/test/homedir"
)

// logHome is a home with a namespace for its apps.
type logHome struct {
	*testing.T
	cluster   *clustertest.Cluster
	namespace string
	home      string
}

func newLogHome(t *testing.T) *logHome {
	cluster := clustertest.Need(t)
	return &logHome{t, cluster, cluster.Namespace(t), homedir.New(t)}
}

// open returns a backend that reaches the cluster by a kubeconfig.
func (h *logHome) open(kubeconfig string) *Backend {
	h.Helper()
	b, err := New(Config{
		Home: h.home, Version: "test", Warn: func(line string) { h.Log(line) },
		Settings: func(context.Context, string) (backend.Config, error) {
			return backend.Config{"namespace": h.namespace, "kubeconfig": kubeconfig}, nil
		},
	})
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = b.Close() })
	return b
}

// run starts a role of busybox shells and returns the app's id.
func (h *logHome) run(cfg map[string]any, replicas int, script string, change ...func(*spec.App)) string {
	h.Helper()
	b := h.open(h.cluster.Kubeconfig)
	role := spec.NewRole("worker", clustertest.Image)
	role.Entrypoint, role.Args, role.NumReplicas = "sh", []string{"-c", script}, replicas
	role.Resource = spec.Resource{CPU: 1, MemMB: 64}
	app := &spec.App{Name: "logs", Roles: []spec.Role{role}, Metadata: map[string]any{}}
	for _, do := range change {
		do(app)
	}
	given := map[string]any{
		"namespace": h.namespace, "gang": "job", "reserved_millicpu": 995, "reserved_memmb": 63, "kubeconfig": h.cluster.Kubeconfig,
	}
	maps.Copy(given, cfg)
	resolved, _, err := backend.Resolve(b.Options(), backend.JSONLayer(given, "test"))
	if err != nil {
		h.Fatal(err)
	}
	p, err := b.Plan(h.Context(), backend.PlanInput{ID: fmt.Sprintf("logs-%x", rand.Uint32()), App: app, Cfg: resolved, Cwd: h.home})
	if err != nil {
		h.Fatal(err)
	}
	if err := b.Submit(h.Context(), p); err != nil {
		h.Fatal(err)
	}
	return p.ID
}

// read reads the log of a replica to its end.
func (h *logHome) read(b *Backend, id string, replica int, o backend.LogOptions) (text string, notices []string, err error) {
	ctx, cancel := context.WithTimeout(h.Context(), 8*time.Minute)
	defer cancel()
	r, err := b.Logs(ctx, id, spec.Replica{Role: "worker", ID: replica}, o)
	if err != nil {
		return "", nil, err
	}
	return drain(ctx, r)
}

// drain reads a log to its end, and closes it.
func drain(ctx context.Context, r backend.LogReader) (text string, notices []string, err error) {
	defer r.Close()
	var out strings.Builder
	for {
		block, err := r.Next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return out.String(), notices, nil
		case err != nil:
			return out.String(), notices, err
		case block.Notice != "":
			notices = append(notices, block.Notice)
		}
		out.Write(block.Data)
	}
}

func (h *logHome) wait(b *Backend, id string) {
	h.Helper()
	ctx, cancel := context.WithTimeout(h.Context(), 3*time.Minute)
	defer cancel()
	if _, err := b.Wait(ctx, id); err != nil {
		h.Fatal(err)
	}
}

// TestLogsOverBadConnection: the logs of many pods are complete, every line once, while the
// connection to the server is cut repeatedly. A node has room for 110 pods, which other
// tests use, too; test/kubernetes has the test with 100.
func TestLogsOverBadConnection(t *testing.T) {
	t.Parallel()
	h := newLogHome(t)
	const replicas, lines = 30, 150
	proxy := h.cluster.Proxy(t)
	id := h.run(nil, replicas, fmt.Sprintf("i=0; while [ $i -lt %d ]; do i=$((i+1)); echo line $i; echo err $i >&2; [ $((i%%5)) = 0 ] && sleep 0.3; done; sleep 1; printf end", lines))
	b := h.open(proxy.Kubeconfig)
	stop := make(chan struct{})
	var cutting, reading sync.WaitGroup
	cuts := 0
	cutting.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(500+rand.IntN(2500)) * time.Millisecond):
			}
			cuts++
			proxy.Cut()
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			if err := proxy.Restore(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	check := func(i int, o backend.LogOptions, b *Backend) {
		got, notices, err := h.read(b, id, i, o)
		if err != nil || len(notices) > 0 {
			t.Errorf("replica %d: %v, notices %q, want no error and len(notices) == 0", i, err, notices)
		}
		h.complete(i, got, lines)
	}
	for i := range replicas {
		reading.Go(func() { check(i, backend.LogOptions{Follow: true, Tail: -1}, b) })
	}
	reading.Wait()
	close(stop)
	cutting.Wait()
	t.Logf("the connection was cut %d times", cuts)
	direct := h.open(h.cluster.Kubeconfig)
	if err := direct.Delete(t.Context(), id, backend.DeleteOptions{KeepLogs: true}); err != nil {
		t.Fatal(err)
	}
}

// complete checks that both streams have each line once, in order, and that the end is there.
func (h *logHome) complete(replica int, text string, lines int) {
	h.Helper()
	next := map[string]int{"line": 1, "err": 1}
	rest, ok := strings.CutSuffix(text, "end")
	if !ok {
		h.Errorf("replica %d: got %.100q at the end, want \"end\"", replica, text[max(0, len(text)-100):])
	}
	for line := range strings.Lines(rest) {
		var stream string
		var n int
		if _, err := fmt.Sscanf(line, "%s %d\n", &stream, &n); err != nil || n != next[stream] {
			h.Errorf("replica %d: got line %q, want number %d", replica, line, next[stream])
			return
		}
		next[stream]++
	}
	if next["line"] != lines+1 || next["err"] != lines+1 {
		h.Errorf("replica %d: got an end before lines %v, want %d", replica, next, lines+1)
	}
}

// TestLogsOfUnusualOutput: the API sends what the replica wrote, except that containerd
// drops a \r before the end of a line.
func TestLogsOfUnusualOutput(t *testing.T) {
	t.Parallel()
	h := newLogHome(t)
	script := `printf '10%%\r20%%\n\n  indented\t\n'; printf '\377\376 bytes\n'; head -c 40000 /dev/zero | tr '\0' x; echo; sleep 1; head -c 16384 /dev/zero | tr '\0' y; sleep 2; echo; printf 'no newline'`
	want := "10%\r20%\n\n  indented\t\n\xff\xfe bytes\n" + strings.Repeat("x", 40000) + "\n" + strings.Repeat("y", 16384) + "\nno newline"
	id := h.run(nil, 1, script)
	b := h.open(h.cluster.Kubeconfig)
	for _, follow := range []bool{true, false} {
		got, notices, err := h.read(b, id, 0, backend.LogOptions{Follow: follow, Tail: -1})
		if got != want || err != nil || len(notices) > 0 {
			t.Errorf("follow %v: %d bytes, want %d: %.200q…, %q, %v", follow, len(got), len(want), got, notices, err)
		}
	}
}

// TestLogsOfSeveralContainers: a container that restarts in its pod, an init container, and
// a second container.
func TestLogsOfSeveralContainers(t *testing.T) {
	t.Parallel()
	h := newLogHome(t)
	overlay := func(app *spec.App) {
		app.Roles[0].Metadata = map[string]any{"kubernetes": map[string]any{"spec": map[string]any{
			"restartPolicy":  "OnFailure",
			"initContainers": []any{map[string]any{"name": "prepare", "image": clustertest.Image, "imagePullPolicy": "Never", "command": []any{"sh", "-c", "echo prepared"}}},
			"containers":     []any{map[string]any{"name": "proxy", "image": clustertest.Image, "imagePullPolicy": "Never", "command": []any{"sh", "-c", "echo listening"}}},
			"volumes":        []any{map[string]any{"name": "shared", "emptyDir": map[string]any{}}},
		}}}
	}
	// The first run fails and leaves a file in shared memory for the second one. Only the
	// node's report shows whose log it sends, so both last longer than a busy node takes for it.
	id := h.run(nil, 1, `if [ -e /dev/shm/ran ]; then echo second; sleep 40; else touch /dev/shm/ran; echo first; sleep 40; exit 3; fi`, overlay)
	b := h.open(h.cluster.Kubeconfig)
	check := func(got string, notices []string, err error) {
		t.Helper()
		for _, line := range []string{"prepare prepared\n", "proxy listening\n", "first\n", "second\n"} {
			if strings.Count(got, line) != 1 || err != nil {
				t.Errorf("got %q (notices %q, %v), want %q once", got, notices, err, line)
			}
		}
	}
	got, notices, err := h.read(b, id, 0, backend.LogOptions{Follow: true, Tail: -1})
	check(got, notices, err)
	h.wait(b, id)
	got, notices, err = h.read(b, id, 0, backend.LogOptions{Tail: -1})
	check(got, notices, err)
	// A report that is late all the same leaves a notice, and the first run behind the second.
	isLate := slices.Contains(notices, logcopy.GapRotated) || slices.Contains(notices, logcopy.GapEmpty) || strings.HasSuffix(got, "first\n")
	if !strings.HasPrefix(got, "prepare prepared\n") || !isLate && !strings.HasSuffix(got, "second\n") {
		t.Errorf("got %q, want the init container first and the second run last", got)
	}
}

// TestLogsOfAttempts: each attempt of a replica is another pod; the logs of all are kept.
func TestLogsOfAttempts(t *testing.T) {
	t.Parallel()
	h := newLogHome(t)
	for _, gang := range []string{"job", "jobset", "volcano"} {
		t.Run(gang, func(t *testing.T) {
			t.Parallel()
			h := &logHome{t, h.cluster, h.namespace, homedir.New(t)}
			retry := func(app *spec.App) {
				app.Roles[0].MaxRetries, app.Roles[0].RetryPolicy = 1, spec.RetryApplication
			}
			id := h.run(map[string]any{"gang": gang}, 1, "echo $HOSTNAME; sleep 20; exit 3", retry) // Volcano deletes the pod, and with it the log, when it ends
			b := h.open(h.cluster.Kubeconfig)
			got, notices, err := h.read(b, id, 0, backend.LogOptions{Follow: true, Tail: -1})
			if strings.Count(got, "\n") != 2 || err != nil || len(notices) > 0 {
				t.Errorf(`followed: %q, %q, %v, want Count(got, "\n") == 2 and no error and len(notices) == 0`, got, notices, err)
			}
			lines := strings.SplitAfter(got, "\n")
			for attempt := range 2 {
				again, _, err := h.read(b, id, 0, backend.LogOptions{Tail: -1, Attempt: &attempt})
				if err != nil || again != lines[attempt] {
					t.Errorf("attempt %d: %q, %v, want no error and again == lines[attempt]", attempt, again, err)
				}
			}
		})
	}
}
