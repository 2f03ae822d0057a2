package page

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"torchx/cmd/internal/page/api"
	"torchx/cmd/internal/program"
	"torchx/runtime/filelock"
)

// serve serves the page until Ctrl-C, and in the background until it has no visitors.
func serve(ctx context.Context, f *program.Factory, home string, o *options) error {
	at, err := o.address(f)
	if err != nil {
		return err
	}
	certificate, err := o.certificate()
	if err != nil {
		return err
	}
	// The context of the answers ends with the server, however that ends.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if _, err := f.Runner(ctx); err != nil { // before the URL is printed
		return err
	}
	claim, err := program.ClaimPage(home)
	if err != nil && (o.Background || !errors.Is(err, filelock.ErrHeld)) {
		return fmt.Errorf("register the server: %w", err)
	}
	if claim != nil {
		defer claim.Close()
	}
	l, at, err := listen(ctx, at)
	if err != nil {
		return err
	}
	defer l.Close()
	g := &api.Guard{Token: api.NewToken(), Cookie: "torchx-" + at.port, TLS: certificate != nil, ReadOnly: o.ReadOnly, Hosts: at.hosts(certificate)}
	go keepExpiring(ctx, home)
	defer expireRedirects(home, 0)
	s, err := newServer(ctx, f, g)
	if err != nil {
		return err
	}
	info := &program.PageServer{
		URL: at.url(g.TLS), Token: g.Token, Listen: at.String(), PID: os.Getpid(), ReadOnly: o.ReadOnly, Background: o.Background, StartedAt: time.Now().UTC(),
	}
	if claim != nil {
		if err := claim.Publish(info); err != nil {
			return err
		}
	}
	if err := announce(ctx, f, home, o, info); err != nil {
		return err
	}
	if at.socket != "" {
		f.Say("the page is on %s: `ssh -L 8080:%s MACHINE` forwards it to http://127.0.0.1:8080", at, at.socket)
	} else if !o.Background {
		f.Say("serving the page until Ctrl-C (-d serves it in the background)")
	}
	return s.serve(ctx, l, certificate, home, o)
}

// certificate returns the certificate of the options, nil for none.
func (o *options) certificate() (*tls.Certificate, error) {
	if o.Cert == "" {
		return nil, nil //nolint:nilnil // having no certificate is not an error
	}
	c, err := tls.LoadX509KeyPair(o.Cert, o.Key)
	if err != nil {
		return nil, fmt.Errorf("read the certificate: %w", err)
	}
	return &c, nil
}

// Limits of requests.
const (
	headerTime = 10 * time.Second
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10
)

// serve answers requests until ctx ends or the page was not visited for a day.
func (s *server) serve(
	ctx context.Context, l net.Listener, certificate *tls.Certificate, home string, o *options,
) error {
	visits := newVisits(s.calls.Clients)
	h := &http.Server{
		Handler:           visits.wrap(consumeRedirects(home, s.handler())),
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		ErrorLog: log.New(quiet{}, "", 0),
	}
	if certificate != nil {
		l = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}})
	}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })() // clients must not delay Ctrl-C
	if o.Background {
		go func() {
			visits.wait(ctx, o.patience)
			_ = h.Close()
		}()
	}
	if err := h.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// quiet drops what the HTTP server says about clients that go.
type quiet struct{}

func (quiet) Write(p []byte) (int, error) { return len(p), nil }
