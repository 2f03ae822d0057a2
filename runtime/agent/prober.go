package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"torchx/runtime/policy"
	"torchx/runtime/spec"
)

const (
	// probeFirst is the pause after the first check of a port; it doubles up to the
	// period, so that a quick server is noticed quickly.
	probeFirst = 10 * time.Millisecond
	// probeTimeout bounds one check.
	probeTimeout = 3 * time.Second
	// proxyTime is how long a proxy may take to notice that no process listens.
	proxyTime = 300 * time.Millisecond
	// maxProbes bounds the sockets used by concurrent checks.
	maxProbes = 16
	// HTTP statuses from httpGood up to httpBad mean ready, as in Kubernetes' HTTP probes.
	httpGood, httpBad = 200, 400
)

// prober checks the ports of replicas until they are ready. Only the loop's goroutine
// calls its methods; each check has a goroutine.
type prober struct {
	slots  chan struct{}
	cancel map[spec.Replica]context.CancelFunc
}

func newProber() *prober {
	return &prober{slots: make(chan struct{}, maxProbes), cancel: map[spec.Replica]context.CancelFunc{}}
}

// start calls ready, from another goroutine, once the port answers.
func (p *prober) start(
	r spec.Replica, probe *spec.Probe, where func(context.Context) []Address, ready func(),
) {
	ctx, cancel := context.WithCancel(context.Background())
	p.stop(r)
	p.cancel[r] = cancel
	go func() {
		if p.wait(ctx, probe, where) {
			ready()
		}
	}()
}

// stop stops checking a replica.
func (p *prober) stop(r spec.Replica) {
	if cancel := p.cancel[r]; cancel != nil {
		cancel()
		delete(p.cancel, r)
	}
}

func (p *prober) wait(
	ctx context.Context, probe *spec.Probe, where func(context.Context) []Address,
) bool {
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

// probeAnswers checks every address once.
func probeAnswers(
	ctx context.Context, probe *spec.Probe, where func(context.Context) []Address,
) bool {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
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
		return false // the system connected the socket to itself: no process listens
	}
	if path == "" {
		return !a.Proxied || staysOpen(c)
	}
	if deadline, ok := ctx.Deadline(); ok && c.SetDeadline(deadline) != nil {
		return false
	}
	return httpOK(c, a.HostPort, path)
}

// staysOpen reports whether a connection stays open for proxyTime.
func staysOpen(c net.Conn) bool {
	if err := c.SetReadDeadline(time.Now().Add(proxyTime)); err != nil {
		return false
	}
	_, err := c.Read(make([]byte, 1))
	return err == nil || errors.Is(err, os.ErrDeadlineExceeded)
}

// httpOK sends one request. It needs only the status line, which does not justify what
// net/http adds to the start of every command.
func httpOK(c net.Conn, address, path string) bool {
	_, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: torchx\r\nConnection: close\r\n\r\n", path, address)
	if err != nil {
		return false
	}
	var minor, status int
	n, err := fmt.Fscanf(bufio.NewReader(c), "HTTP/1.%d %d", &minor, &status)
	return n == 2 && err == nil && status >= httpGood && status < httpBad
}

// lineProbe returns the function that a launcher calls with each line of output, nil if
// the replica has no log probe.
func (a *agent) lineProbe(r *policy.Replica, attempt int) func(line []byte) bool {
	probe := a.policy.Orders[r.Role].Ready
	if probe == nil || probe.Log == nil {
		return nil
	}
	return func(line []byte) bool {
		found := probe.Log.Match(line)
		if found {
			go a.post(func() { a.probePassed(r, attempt) }) // the reader of the output must not wait for the loop
		}
		return found
	}
}

// startProbe starts checking whether an attempt is ready.
func (a *agent) startProbe(r *policy.Replica, attempt int) {
	probe := a.policy.Orders[r.Role].Ready
	if probe == nil {
		return
	}
	if probe.Timeout > 0 {
		a.after(probe.Timeout, func() { a.probeTimedOut(r, attempt) })
	}
	if probe.ByPort() {
		a.network.prober.start(r.Key, probe, a.addresses(r, attempt, a.portOf(r.Role, probe)), func() {
			a.post(func() { a.probePassed(r, attempt) })
		})
	}
}

// portOf returns the port of a probe; a port name means the port that the agent picked.
func (a *agent) portOf(role *spec.Role, probe *spec.Probe) int {
	if probe.Port == "" {
		return probe.Number
	}
	fallback, _ := role.PortMap.Get(probe.Port)
	if a.manifest.Containers {
		return fallback // a container has its own ports
	}
	return a.network.ports.port(portKey{role.Name, probe.Port}, fallback)
}

// addresses returns a function that finds the addresses of a replica's port.
func (a *agent) addresses(r *policy.Replica, attempt, port int) func(context.Context) []Address {
	if finder, ok := a.launcher.(AddressFinder); ok {
		var once sync.Once
		return func(ctx context.Context) []Address {
			found, err := finder.Addresses(ctx, r.Key, port)
			if err != nil {
				once.Do(func() { a.post(func() { a.portUnreachable(r, attempt, err) }) })
			}
			return found
		}
	}
	var all []Address
	for _, host := range []string{"127.0.0.1", "::1"} {
		all = append(all, Address{HostPort: net.JoinHostPort(host, strconv.Itoa(port))})
	}
	return func(context.Context) []Address { return all }
}

// portUnreachable notes why a probe cannot pass.
func (a *agent) portUnreachable(r *policy.Replica, attempt int, err error) {
	if r.Attempt == attempt {
		r.Unreachable = err.Error()
		a.log.Printf("%s/%d: not ready: %v", r.Key.Role, r.Key.ID, err)
		a.reports.dirty = true
	}
}

// noteCondition notes what the launcher noticed about an attempt.
func (a *agent) noteCondition(c Condition) {
	r := a.policy.ByKey[c.Replica]
	if r.Attempt != c.Attempt {
		return
	}
	r.Note, a.reports.dirty = c.Note, true
	if probe := a.policy.Orders[r.Role].Ready; c.Healthy && probe != nil && probe.Healthcheck {
		a.probePassed(r, c.Attempt)
	}
}

func (a *agent) probePassed(r *policy.Replica, attempt int) {
	a.perform(a.policy.ProbePassed(r, attempt, a.now()))
	a.reports.dirty = true
}

func (a *agent) probeTimedOut(r *policy.Replica, attempt int) {
	a.perform(a.policy.ProbeTimedOut(r, attempt))
	a.reports.dirty = true
}
