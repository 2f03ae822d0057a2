package page

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"torchx/cmd/internal/program"
	"torchx/cmd/internal/ui"
)

// address is where a server listens.
type address struct {
	socket string // path of a socket, "" for host and port
	host   string
	port   string
}

// String returns the address as in --listen.
func (a address) String() string {
	if a.socket != "" {
		return "unix:" + a.socket
	}
	return net.JoinHostPort(a.host, a.port)
}

// maxSocket is the length of the path of a socket.
const maxSocket = 104

// address returns where the options say to listen. An error is one of usage.
func (o *options) address(f *program.Factory) (a address, err error) {
	if path, ok := strings.CutPrefix(o.Listen, "unix:"); ok {
		switch a.socket = f.Env.Absolute(path); {
		case path == "":
			return a, program.Usagef("ui", "--listen unix: needs a path")
		case len(a.socket) >= maxSocket:
			return a, program.Usagef("ui", "--listen %s: the path of a socket has at most %d bytes",
				ui.QuoteWord(o.Listen), maxSocket-1)
		case o.Port != "" || o.Cert != "" || o.Key != "":
			return a, program.Usagef("ui", "--listen unix:PATH cannot be used with --port, --cert or --key")
		}
		return a, nil
	}
	a.host, a.port = "127.0.0.1", "0"
	if o.Listen != "" {
		a.host = strings.Trim(o.Listen, "[]")
		if host, port, err := net.SplitHostPort(o.Listen); err == nil {
			if o.Port != "" {
				return a, program.Usagef("ui", "--listen %s and --port %s both give a port",
					ui.QuoteWord(o.Listen), ui.QuoteWord(o.Port))
			}
			a.host, a.port = host, port
		}
	}
	if o.Port != "" {
		a.port = o.Port
	}
	if n, err := strconv.ParseUint(a.port, 10, 16); err != nil {
		return a, program.Usagef("ui", "the port must be a number from 0 to 65535, not %s",
			ui.QuoteWord(a.port))
	} else {
		a.port = strconv.FormatUint(n, 10)
	}
	if strings.ContainsFunc(a.host, func(r rune) bool { return r <= ' ' || strings.ContainsRune(`/\?#@%"'<>`, r) }) {
		return a, program.Usagef("ui", "--listen %s is not an address: want HOST, HOST:PORT or unix:PATH", ui.QuoteWord(o.Listen))
	}
	if a.host == "localhost" && o.Cert == "" {
		// Without a certificate, another user's server on [::1] could answer to the name, and get
		// the token.
		a.host = "127.0.0.1"
	}
	if (o.Cert == "") != (o.Key == "") {
		return a, program.Usagef("ui", "--cert and --key belong together")
	}
	if o.Cert == "" && !isLoopback(a.host) {
		return a, program.Usagef("ui", "--listen %s can be reached from other machines: give --cert and --key, or forward a port: `ssh -L`", ui.QuoteWord(o.Listen))
	}
	return a, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// listen opens an address; the port of the result is the real one.
func listen(ctx context.Context, a address) (net.Listener, address, error) {
	var c net.ListenConfig
	if a.socket != "" {
		if err := removeStale(ctx, a.socket); err != nil {
			return nil, a, err
		}
		l, err := c.Listen(ctx, "unix", a.socket)
		if err != nil {
			return nil, a, fmt.Errorf("listen on %s: %w", a, cause(err))
		}
		return l, a, os.Chmod(a.socket, 0o600)
	}
	l, err := c.Listen(ctx, "tcp", a.String())
	if err != nil {
		return nil, a, fmt.Errorf("listen on %s: %w (choose another with --port)", a, cause(err))
	}
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		a.port = strconv.Itoa(at.Port)
	}
	return l, a, nil
}

// cause returns an error without the address that messages name already.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}

// removeStale removes a socket on which no server listens.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // the path is free, or listening says why not
	case info.Mode()&os.ModeSocket == 0:
		return fmt.Errorf("listen on unix:%s: a file is there already", path)
	}
	if conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path); err == nil {
		conn.Close()
		return fmt.Errorf("listen on unix:%s: another server listens there", path)
	}
	return os.Remove(path)
}

// hosts returns the names by which a browser may reach an address.
func (a address) hosts(certificate *tls.Certificate) []string {
	var names []string
	if certificate != nil && certificate.Leaf != nil {
		names = append(names, certificate.Leaf.DNSNames...)
		for _, ip := range certificate.Leaf.IPAddresses {
			names = append(names, ip.String())
		}
	}
	ip := net.ParseIP(a.host)
	if a.host != "" && (ip == nil || !ip.IsUnspecified()) {
		if ip != nil {
			return append(names, ip.String())
		}
		return append(names, a.host)
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return names
	}
	for _, one := range all {
		if n, ok := one.(*net.IPNet); ok {
			names = append(names, n.IP.String())
		}
	}
	return names
}

// url returns the URL of an address.
func (a address) url(secure bool) string {
	host := a.host
	switch ip := net.ParseIP(host); {
	case a.socket != "":
		return "http://127.0.0.1"
	case host == "" || ip != nil && ip.IsUnspecified():
		host = "localhost"
		if name, err := os.Hostname(); err == nil {
			host = name
		}
	}
	if secure {
		return "https://" + net.JoinHostPort(host, a.port)
	}
	return "http://" + net.JoinHostPort(host, a.port)
}
