package docker

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/docker/cli/cli/connhelper"
	"github.com/docker/cli/cli/connhelper/commandconn"
	"github.com/docker/cli/cli/connhelper/ssh"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/go-connections/nat"
)

// sshEngine is the prefix of addresses of engines that the ssh command reaches: `docker system
// dial-stdio` on the other machine connects to the engine's socket.
const sshEngine = "ssh://"

func (e endpoint) isSSH() bool { return strings.HasPrefix(e.Host, sshEngine) }

// overSSH returns the options of a client whose connections are ssh processes. DaemonHost
// returns the address without the path of the socket.
func (e endpoint) overSSH() ([]client.Opt, error) {
	helper, err := connhelper.GetConnectionHelper(e.Host)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(e.Host)
	if err != nil {
		return nil, err
	}
	u.Path = ""
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := helper.Dialer(ctx, network, address)
		return failingConn{conn}, err
	}
	return []client.Opt{client.WithHost(u.String()), client.WithDialContext(dial)}, nil
}

// dialThroughSSH connects to an address that the engine's machine can reach.
func dialThroughSSH(ctx context.Context, host, address string) (net.Conn, error) {
	spec, err := ssh.ParseURL(host)
	if err != nil {
		return nil, err
	}
	args := append([]string{"-T", "-o", "ConnectTimeout=30", "-W", address}, spec.Args()...)
	conn, err := commandconn.New(ctx, "ssh", args...)
	return failingConn{conn}, err
}

// sshError is what the ssh command printed before it failed.
type sshError struct{ text string }

func (e *sshError) Error() string { return e.text }

// failingConn is the connection of an ssh process. Its errors say in one line what ssh printed.
type failingConn struct{ net.Conn }

func (c failingConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, shortened(err)
}

func (c failingConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) { // ssh has ended: only reading says why
		if _, why := c.Conn.Read(make([]byte, 1)); why != nil {
			err = why
		}
	}
	return n, shortened(err)
}

// CloseWrite sends EOF: the end of the input of `exec`.
func (c failingConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

func shortened(err error) error {
	if err == nil || errors.Is(err, os.ErrClosed) {
		return err
	}
	_, printed, found := strings.Cut(err.Error(), "stderr=")
	if !found {
		return err
	}
	lines := strings.FieldsFunc(printed, func(r rune) bool { return r == '\n' || r == '\r' })
	if len(lines) == 0 {
		return &sshError{"ssh ended"}
	}
	return &sshError{strings.TrimSpace(lines[len(lines)-1])}
}

// tryCommand returns a command by which the user can check the connection.
func (e endpoint) tryCommand() string {
	u, err := url.Parse(e.Host)
	if err != nil {
		return "ssh"
	}
	target := u.Hostname()
	if user := u.User.Username(); user != "" {
		target = user + "@" + target
	}
	if u.Port() != "" {
		target = "-p " + u.Port() + " " + target
	}
	return "ssh " + target + " docker version"
}

// dialRemote connects to a port of a container through the engine's machine: at the container's
// address, or where the engine publishes the port.
func dialRemote(ctx context.Context, host string, c container.InspectResponse, port int) (net.Conn, error) {
	number := strconv.Itoa(port)
	if c.HostConfig != nil && c.HostConfig.NetworkMode.IsHost() {
		return dialThroughSSH(ctx, host, net.JoinHostPort("localhost", number))
	}
	if c.NetworkSettings == nil {
		return nil, errors.New("the container has no address")
	}
	for _, b := range c.NetworkSettings.Ports[nat.Port(number+"/tcp")] {
		return dialThroughSSH(ctx, host, net.JoinHostPort(b.HostIP, b.HostPort))
	}
	for _, n := range c.NetworkSettings.Networks {
		if n != nil && n.IPAddress != "" {
			return dialThroughSSH(ctx, host, net.JoinHostPort(n.IPAddress, number))
		}
	}
	return nil, errors.New("the container has no address")
}
