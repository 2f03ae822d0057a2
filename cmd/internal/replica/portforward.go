package replica

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
	"torchx/runtime/backend"
	"torchx/runtime/runner"
	"torchx/runtime/spec"
)

// NewPortForward returns the command `port-forward`.
func NewPortForward(f *program.Factory) *cli.Command {
	var address string
	return &cli.Command{
		Name:  "port-forward",
		Usage: "reach ports of a replica",
		UsageText: "HANDLE[/ROLE[/ID]] [LOCAL:]PORT... [--address ADDRESS]\n" +
			"torchx port-forward - 6006\n" +
			"torchx port-forward sh/sh/0 8080:80 9000",
		Description: "Listen on local ports and connect each connection to a TCP port of a running replica, until Ctrl-C. The local ports " +
			"are printed, one a line, when connections are accepted; LOCAL 0 or a missing LOCAL before the colon chooses a free one. " +
			oneReplica + program.HandleHelp,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "address", Usage: "listen on the IP `ADDRESS` of this machine", Value: "127.0.0.1", Destination: &address},
		},
		Action: func(c *cli.Context) error {
			switch c.NArg() {
			case 0:
				return program.Missing(c, "HANDLE")
			case 1:
				return program.Usagef("port-forward", "missing PORT")
			}
			var ports []forwarding
			for _, text := range c.Args().Tail() {
				p, err := parsePorts(text)
				if err != nil {
					return err
				}
				ports = append(ports, p)
			}
			return portForward(c.Context, f, c.Args().First(), address, ports)
		},
	}
}

// forwarding is a pair of ports; a local port 0 is chosen.
type forwarding struct{ local, remote int }

func parsePorts(text string) (p forwarding, err error) {
	local, remote, pair := strings.Cut(text, ":")
	if !pair {
		remote = text
	}
	p.remote, err = strconv.Atoi(remote)
	if err == nil && local != "" {
		p.local, err = strconv.Atoi(local)
	}
	if err != nil || p.remote < 1 || p.remote > 65535 || p.local < 0 || p.local > 65535 {
		return p, program.Usagef("port-forward", "%s is not a port: write PORT or LOCAL:PORT, with numbers up to 65535", ui.QuoteWord(text))
	}
	return p, nil
}

func portForward(
	ctx context.Context, f *program.Factory, target, address string, ports []forwarding,
) error {
	r, err := f.Runner(ctx)
	if err != nil {
		return err
	}
	in, err := runner.FindInside(ctx, r, target, "port-forward", func(c backend.Capabilities) backend.PortDialer { return c.Ports })
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	p := forwarder{Factory: f, in: in, stop: stop}
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	var addresses []string
	for _, port := range ports {
		if in.Backend.SharesPorts() && port.local == port.remote {
			addresses = append(addresses, fmt.Sprintf("localhost:%d", port.remote))
			f.Say("port %d of %s is a port of this machine already: connect to it directly", port.remote, in)
			continue
		}
		l, err := listen(ctx, address, port)
		if err != nil {
			return err
		}
		listeners, addresses = append(listeners, l), append(addresses, l.Addr().String())
		f.Say("forwarding %s to port %d of %s, Ctrl-C ends it", l.Addr(), port.remote, in)
		go p.accept(ctx, l, port.remote)
	}
	if _, err := fmt.Fprintln(f.Out, strings.Join(addresses, "\n")); err != nil {
		return err
	}
	go func() { stop(p.ended(ctx, r)) }()
	<-ctx.Done()
	if program.Interrupted(ctx, context.Cause(ctx)) {
		return program.QuietError(spec.ExitCancelled)
	}
	return context.Cause(ctx)
}

// listen listens on a local port.
func listen(ctx context.Context, address string, p forwarding) (net.Listener, error) {
	at := net.JoinHostPort(strings.Trim(address, "[]"), strconv.Itoa(p.local))
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is in use on this machine: choose another, :%d takes a free one", p.local, p.remote)
	case err != nil:
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return nil, fmt.Errorf("listen on %s: %w", at, err)
	}
	return l, nil
}

// forwarder forwards connections.
type forwarder struct {
	*program.Factory
	in   runner.Inside[backend.PortDialer]
	stop context.CancelCauseFunc
}

// ended waits until the replica has ended, and returns why.
func (p *forwarder) ended(ctx context.Context, r *runner.Runner) error {
	s, err := r.Wait(ctx, p.in.Ref)
	if err != nil {
		return err
	}
	return fmt.Errorf("%s has ended (%s)", p.in, s.State)
}

// accept forwards the connections of a listener.
func (p *forwarder) accept(ctx context.Context, l net.Listener, port int) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed at the end
		}
		go p.serve(ctx, conn, port)
	}
}

// serve forwards one connection.
func (p *forwarder) serve(ctx context.Context, local net.Conn, port int) {
	defer local.Close()
	remote, err := p.in.Backend.DialPort(ctx, p.in.Ref.ID, p.in.Replica, port)
	if err == nil {
		defer remote.Close()
		err = join(local, remote)
	}
	if err == nil || ctx.Err() != nil {
		return
	}
	err = fmt.Errorf("connect to port %d of %s: %w", port, p.in, err)
	if errors.Is(err, fs.ErrPermission) { // so are all others
		p.stop(err)
		return
	}
	p.Explain(err)
}

// join copies both directions until both have ended. The end of one closes the other for writing.
func join(local, remote net.Conn) (err error) {
	var both sync.WaitGroup
	both.Go(func() {
		_, _ = io.Copy(remote, local)
		closeWrite(remote)
	})
	_, err = io.Copy(local, remote)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "readfrom" { // of remote
		err = op.Err
	}
	closeWrite(local)
	if err != nil { // nothing reads what the client still sends
		local.Close()
	}
	both.Wait()
	if errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.ECONNRESET) ||
		program.IsBrokenPipe(err) {
		return nil
	}
	return err
}

// closeWrite ends what is sent on a connection.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // fails if it is closed
		return
	}
	c.Close()
}
