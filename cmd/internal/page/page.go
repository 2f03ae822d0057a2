// Package page has the command ui, which serves a page of this machine's runs to a browser.
//
//	page          the command, the server, the first paint
//	page/guard    who may: token, cookie, host, origin, headers
//	page/api      /api/v1, by calls of commands
//	page/stream   changes of files as server-sent events
//	page/web      what the browser loads
package page

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/page/guard"
	"torchx/cmd/internal/program"
)

// options are the flags of `ui`.
type options struct {
	port     string
	readOnly bool
}

// NewUI returns the command `ui`.
func NewUI(f *program.Factory) *cli.Command {
	o := &options{}
	return &cli.Command{
		Name:      "ui",
		Usage:     "show runs in a browser",
		UsageText: "[HANDLE] [--port N] [--read-only]\ntorchx ui",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "port", Usage: "listen on port `N` (default: any free port)", Destination: &o.port},
			&cli.BoolFlag{Name: "read-only", Usage: "refuse everything that changes a run", Destination: &o.readOnly},
		},
		Action: func(c *cli.Context) error { return serve(c.Context, f, o) },
	}
}

func serve(ctx context.Context, f *program.Factory, o *options) error {
	port := 0
	if o.port != "" {
		n, err := strconv.Atoi(o.port)
		if err != nil {
			return program.Usagef("ui", "--port is not a number")
		}
		port = n
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return err
	}
	at := l.Addr().(*net.TCPAddr).Port
	g := &guard.Guard{Token: guard.NewToken(), Cookie: fmt.Sprintf("torchx-%d", at), ReadOnly: o.readOnly}
	s, err := newServer(ctx, f, g)
	if err != nil {
		return err
	}
	if err := f.Printf("http://127.0.0.1:%d/?token=%s\n", at, url.QueryEscape(g.Token)); err != nil {
		return err
	}
	h := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	if err := h.Serve(l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
