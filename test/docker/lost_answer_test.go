//go:build linux

package docker

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docker/docker/api/types/container"
)

// TestAnswerOfStartLost: the engine starts a container, but its answer never arrives. The program
// has ended when the engine is asked again; it must not run twice.
func TestAnswerOfStartLost(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	lost := h.loseFirstStart()
	r := h.torchx("run", "--wait", "-b", "docker", "-cfg", "pull=never,grace_period=1", "t.star:app", "--script", "echo ran; exit 3")
	if r.code != 3 || !lost.Load() {
		t.Fatalf("got %+v, answer lost: %v; want exit code 3 and a lost answer", r, lost.Load())
	}
	if out := h.torchx("log", "-").stdout; out != "r/0 ran\n" {
		t.Errorf("got log %q, want one line", out)
	}
	if s := h.torchx("status", "-", "--json"); !strings.Contains(s.stdout, `"num_restarts": 0`) {
		t.Errorf("got %s, want no restarts", s.stdout)
	}
}

// loseFirstStart puts a proxy before the engine. It passes on the first request that starts a
// container, waits until the container has ended, and closes the connection without an answer.
func (h *home) loseFirstStart() *atomic.Bool {
	h.Helper()
	var lost atomic.Bool
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "engine"})
	proxy.Transport = &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.engine.Client.Dialer()(ctx) }}
	proxy.FlushInterval = -1 // events and logs
	path := filepath.Join(h.TempDir(), "proxy.sock")
	l, err := new(net.ListenConfig).Listen(h.Context(), "unix", path)
	if err != nil {
		h.Fatal(err)
	}
	server := &http.Server{ReadHeaderTimeout: testTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if id, isStart := strings.CutSuffix(q.URL.Path, "/start"); isStart && !lost.Swap(true) {
			proxy.ServeHTTP(httptest.NewRecorder(), q)
			h.waitForEnd(id[strings.LastIndex(id, "/")+1:])
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, q)
	})}
	go func() { _ = server.Serve(l) }()
	h.Cleanup(func() { _ = server.Close() })
	h.env = append(h.env, "DOCKER_HOST=unix://"+path)
	return &lost
}

func (h *home) waitForEnd(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	ended, failed := h.engine.Client.ContainerWait(ctx, id, container.WaitConditionNotRunning)
	select {
	case <-ended:
	case err := <-failed:
		h.Errorf("wait for container %s: %v", id, err)
	}
}
