//go:build unix

package agent

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"torchx/runtime/spec"
)

func TestProbeOfHTTP(t *testing.T) {
	t.Parallel()
	var status atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(status.Load())) }))
	defer server.Close()
	where := func(context.Context) []Address {
		return []Address{{HostPort: strings.TrimPrefix(server.URL, "http://")}}
	}
	for code, want := range map[int]bool{200: true, 302: true, 404: false, 503: false} {
		status.Store(int32(code))
		if got := probeAnswers(t.Context(), &spec.Probe{Path: "/ready"}, where); got != want {
			t.Errorf("status %d: got ready %v, want %v", code, got, want)
		}
	}
}

// TestProbeOfAProxy: if no process listens behind a proxy, it accepts a connection and
// closes it.
func TestProbeOfAProxy(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	closes := make(chan bool, 2)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if <-closes {
				c.Close()
				continue
			}
			t.Cleanup(func() { c.Close() })
		}
	}()
	proxied := Address{HostPort: l.Addr().String(), Proxied: true}
	closes <- true
	if addressAnswers(t.Context(), proxied, "") {
		t.Error("a proxy that closes immediately: got ready, want not ready")
	}
	closes <- false
	if !addressAnswers(t.Context(), proxied, "") {
		t.Error("a proxy with a process: got not ready, want ready")
	}
}

// TestProber: a port is checked until it answers, and a stopped probe is never ready.
func TestProber(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, ready := newProber(), make(chan struct{})
	lookups := 0
	where := func(context.Context) []Address {
		if lookups++; lookups < 3 {
			return nil // no address yet
		}
		return []Address{{HostPort: l.Addr().String()}}
	}
	r := spec.Replica{Role: "r"}
	p.start(r, &spec.Probe{Period: time.Millisecond}, where, func() { close(ready) })
	<-ready
	if lookups != 3 {
		t.Errorf("got %d lookups, want 3", lookups)
	}
	stopped := make(chan bool)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		stopped <- p.wait(ctx, &spec.Probe{Period: time.Millisecond}, func(context.Context) []Address { return nil })
	}()
	stop()
	if <-stopped {
		t.Error("after stop: got ready, want not ready")
	}
}
