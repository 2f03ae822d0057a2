package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"torchx/runtime/spec"
)

const (
	// probeFirst is the pause after the first look at a port; it doubles up to the
	// period, so that a quick server is not waited for.
	probeFirst = 10 * time.Millisecond
	// probeTry bounds one look.
	probeTry = 3 * time.Second
	// proxyTime is how long a proxy may take to find that nobody listens.
	proxyTime = 300 * time.Millisecond
	// probesAtOnce bounds the sockets that looking takes.
	probesAtOnce = 16
	// The statuses that mean ready: those of Kubernetes' HTTP probes.
	httpGood, httpBad = 200, 400
)

// prober looks at the ports of replicas until they are ready. Only the loop's
// goroutine calls its methods; each replica that is looked at has a goroutine.
type prober struct {
	slots  chan struct{}
	cancel map[spec.Replica]context.CancelFunc
}

func newProber() *prober {
	return &prober{slots: make(chan struct{}, probesAtOnce), cancel: map[spec.Replica]context.CancelFunc{}}
}

// start calls ready, from another goroutine, once the port answers.
func (p *prober) start(r spec.Replica, probe *spec.Probe, where func(context.Context) []Address, ready func()) {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop(r)
	p.cancel[r] = cancel
	go func() {
		if p.wait(ctx, probe, where) {
			ready()
		}
	}()
}

// stop stops looking at a replica.
func (p *prober) stop(r spec.Replica) {
	if cancel := p.cancel[r]; cancel != nil {
		cancel()
		delete(p.cancel, r)
	}
}

func (p *prober) wait(ctx context.Context, probe *spec.Probe, where func(context.Context) []Address) bool {
	pause := probe.InitialDelay
	for next := min(probeFirst, probe.Period); ; next = min(2*next, probe.Period) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(pause):
		}
		pause = next
		p.slots <- struct{}{}
		ok := probeAnswers(ctx, probe, where)
		<-p.slots
		if ok {
			return ctx.Err() == nil
		}
	}
}

// probeAnswers looks once, at every address.
func probeAnswers(ctx context.Context, probe *spec.Probe, where func(context.Context) []Address) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTry)
	defer cancel()
	for _, address := range where(ctx) {
		if addressAnswers(ctx, address, probe.Path) {
			return true
		}
	}
	return false
}

func addressAnswers(ctx context.Context, a Address, path string) bool {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", a.HostPort)
	if err != nil {
		return false
	}
	defer c.Close()
	if c.LocalAddr().String() == c.RemoteAddr().String() {
		return false // the system connected the socket to itself: nobody listens
	}
	if path == "" {
		return !a.Proxied || staysOpen(c)
	}
	if deadline, ok := ctx.Deadline(); ok && c.SetDeadline(deadline) != nil {
		return false
	}
	return httpOK(c, a.HostPort, path)
}

// staysOpen reports whether a connection is not closed at once.
func staysOpen(c net.Conn) bool {
	if err := c.SetReadDeadline(time.Now().Add(proxyTime)); err != nil {
		return false
	}
	_, err := c.Read(make([]byte, 1))
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// httpOK sends one request. It needs the first line of the answer only, which
// is not worth what net/http adds to the start of every command.
func httpOK(c net.Conn, address, path string) bool {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: torchx\r\nConnection: close\r\n\r\n", path, address)
	if err != nil {
		return false
	}
	var minor, status int
	n, err := fmt.Fscanf(bufio.NewReader(c), "HTTP/1.%d %d", &minor, &status)
	return n == 2 && err == nil && status >= httpGood && status < httpBad
}
