package clustertest

import (
	"context"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd/api"
)

// Tunnel forwards connections to the cluster's API server without reading them: the server sees
// the client's own credentials.
type Tunnel struct {
	server, address string

	mu       sync.Mutex // guards the fields below
	listener net.Listener
	open     []*wire
	accepted int
}

// wire is a connection with its other half.
type wire struct {
	client, server net.Conn
	mu             sync.Mutex
	isSilent       bool // what arrives is lost
}

// Tunnel starts a tunnel for the duration of the test.
func (c *Cluster) Tunnel(t testing.TB) *Tunnel {
	t.Helper()
	to, err := url.Parse(c.Config.Host)
	if err != nil {
		t.Fatal(err)
	}
	p := &Tunnel{server: to.Host, address: "127.0.0.1:0"}
	if err := p.Restore(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Cut)
	return p
}

// Through makes the tunnel the address of a cluster in a kubeconfig.
func (p *Tunnel) Through(cluster *api.Cluster) { cluster.Server = "https://" + p.address }

// Restore accepts connections, at the same address each time.
func (p *Tunnel) Restore() error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", p.address)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.address, p.listener = l.Addr().String(), l
	go p.serve(l)
	return nil
}

// Cut ends all connections and refuses new ones.
func (p *Tunnel) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener.Close()
	for _, w := range p.open {
		w.client.Close()
		w.server.Close()
	}
	p.open = nil
}

// Silence loses what is sent on the open connections, which stay open, as when a machine slept or
// has a new address. New connections work.
func (p *Tunnel) Silence() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.open {
		w.mu.Lock()
		w.isSilent = true
		w.mu.Unlock()
	}
}

// Accepted returns the number of connections so far.
func (p *Tunnel) Accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accepted
}

func (p *Tunnel) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", p.server)
		if err != nil {
			client.Close()
			continue
		}
		w := &wire{client: client, server: server}
		p.mu.Lock()
		p.accepted++
		p.open = append(p.open, w)
		p.mu.Unlock()
		go w.forward(client, server)
		go w.forward(server, client)
	}
}

// forward copies one direction.
func (w *wire) forward(to io.WriteCloser, from io.Reader) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		isSilent := w.isSilent
		w.mu.Unlock()
		if !isSilent && err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			if !isSilent {
				to.Close()
			}
			return
		}
	}
}
