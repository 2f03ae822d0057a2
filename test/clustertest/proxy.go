package clustertest

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Proxy forwards requests to the cluster's API server and records them. Cut closes it, as if
// the server restarts or the network fails. It speaks HTTP/2 like the server, so that a client
// has all its streams on one connection.
type Proxy struct {
	Kubeconfig string // file, with the rights of the cluster's kubeconfig

	handler http.Handler
	tls     *tls.Config
	address string

	mu       sync.Mutex // guards the fields below
	server   *http.Server
	requests []string
}

// Proxy starts a proxy for the duration of the test.
func (c *Cluster) Proxy(t testing.TB) *Proxy {
	t.Helper()
	p, err := c.NewProxy(t.TempDir() + "/kubeconfig")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Cut)
	return p
}

// NewProxy starts a proxy and writes a kubeconfig for it. Cut stops it.
func (c *Cluster) NewProxy(kubeconfig string) (*Proxy, error) {
	to, err := url.Parse(c.Config.Host)
	if err != nil {
		return nil, err
	}
	through := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Header.Del("Authorization") // the transport has its own credentials
		},
		FlushInterval: -1, // forward watches and logs immediately
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	if through.Transport, err = rest.TransportFor(c.Config); err != nil {
		return nil, err
	}
	p := &Proxy{Kubeconfig: kubeconfig, address: "127.0.0.1:0"}
	p.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.requests = append(p.requests, r.Method+" "+r.URL.RequestURI())
		p.mu.Unlock()
		through.ServeHTTP(w, r)
	})
	authority := p.certify()
	if err := p.Restore(); err != nil {
		return nil, err
	}
	return p, c.write(kubeconfig, func(cluster *api.Cluster, user *api.AuthInfo, _ *api.Context) {
		cluster.Server, cluster.CertificateAuthorityData = "https://"+p.address, authority
		*user = api.AuthInfo{Token: "none"} // without a token, kubectl prompts for a password
	})
}

// certify sets the certificate of Go's test servers, and returns its authority.
func (p *Proxy) certify() []byte {
	s := httptest.NewUnstartedServer(nil)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	p.tls = s.TLS.Clone()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// Requests returns the requests since the last call: "GET /api/v1/…".
func (p *Proxy) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.requests = nil }()
	return p.requests
}

// Cut ends all connections and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		_ = p.server.Close() // closes the listener and all connections
		p.server = nil
	}
}

// Restore accepts connections again, at the same address.
func (p *Proxy) Restore() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		return errors.New("the proxy is not cut")
	}
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", p.address)
	if err != nil {
		return err
	}
	p.address = l.Addr().String()
	server := &http.Server{Handler: p.handler, TLSConfig: p.tls.Clone()}
	p.server = server
	go func() { _ = server.ServeTLS(l, "", "") }() // until it is closed
	return nil
}
