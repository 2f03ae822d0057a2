package clustertest

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
)

// registryVariable holds the address that the test cluster's node pulls from, such as
// http://127.0.0.1:16455, where tests start a registry.
const registryVariable = "K8S_REGISTRY"

// Registry starts an empty registry at the address that the node pulls from. It returns the
// address as in image names (host:port), and the path of a socket of the same registry for
// processes in another network, see Forward.
func (c *Cluster) Registry(t testing.TB) (host, socket string) {
	t.Helper()
	at, err := url.Parse(os.Getenv(registryVariable))
	if err != nil || at.Host == "" {
		t.Fatalf("%s=%q is not the address of a registry: set it before the cluster starts (%v)",
			registryVariable, os.Getenv(registryVariable), err)
	}
	dir, err := os.MkdirTemp("", "registry-") // t.TempDir() can be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket = filepath.Join(dir, "socket")
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0)))}
	t.Cleanup(func() { _ = server.Close() })
	for network, address := range map[string]string{"tcp": at.Host, "unix": socket} {
		l, err := (&net.ListenConfig{}).Listen(context.Background(), network, address)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = server.Serve(l) }() // until it is closed
	}
	return at.Host, socket
}

// Forward accepts connections at an address of the caller's network and forwards each to a
// socket. It always returns an error.
func Forward(address, socket string) error {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return err
	}
	for {
		in, err := l.Accept()
		if err != nil {
			return err
		}
		go func() { _ = forward(in, socket) }() // the client sees the end
	}
}

func forward(in net.Conn, socket string) error {
	out, err := (&net.Dialer{}).DialContext(context.Background(), "unix", socket)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
	_, err = io.Copy(in, out)
	return errors.Join(err, in.Close(), out.Close())
}
