package kubernetes

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd/api"

	"torchx/backends/kubernetes/kube"
	"torchx/backends/kubernetes/manifest"
	"torchx/runtime/backend"
	"torchx/runtime/spec"
	"torchx/test/backendtest"
	"torchx/test/clustertest"
)

// script returns an app of one replica that runs a shell script.
func script(text string) *spec.App {
	role := spec.NewRole("r", clustertest.Image)
	role.Entrypoint, role.Args = "sh", []string{"-c", text}
	return &spec.App{Name: "one", Roles: []spec.Role{role}, Metadata: map[string]any{"kubernetes": map[string]any{"spec": map[string]any{"terminationGracePeriodSeconds": 1}}}}
}

// submitted submits an app of one replica and returns its ID.
func (s *site) submitted(gang manifest.Form, text string, size *backend.TerminalSize) string {
	s.Helper()
	p := s.planOf("one-1", script(text), map[string]any{"gang": string(gang), "reserved_millicpu": 1000})
	p.TTY = size
	if err := s.Submit(s.Context(), p); err != nil {
		s.Fatal(err)
	}
	return p.ID
}

func (s *site) waitRunning(id string) {
	s.Helper()
	s.Eventually(s, "the app runs", func(ctx context.Context) (bool, error) {
		status, err := s.Describe(ctx, id)
		return err == nil && status.State == spec.Running, err
	})
}

// eachProtocol calls use with a backend whose connections are WebSockets, and with one behind a proxy
// that refuses them, so that they are SPDY.
func (s *site) eachProtocol(use func(name string, b *Backend)) {
	s.Helper()
	var refused atomic.Int32
	kubeconfig := s.through(func(r *http.Request) bool {
		isWebSocket := strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
		if isWebSocket {
			refused.Add(1)
		}
		return isWebSocket
	})
	use("WebSocket", s.Backend)
	use("SPDY", s.as(kubeconfig))
	if refused.Load() == 0 {
		s.Error("the client tried no WebSocket")
	}
}

// TestExecWays: commands run by both protocols; a proxy that refuses WebSockets gets SPDY.
func TestExecWays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormJob, "sleep 1000", nil)
	s.waitRunning(id)
	s.eachProtocol(func(name string, b *Backend) {
		var out, errs bytes.Buffer
		code, err := b.Exec(t.Context(), id, spec.Replica{Role: "r"}, backend.Command{
			Args: []string{"sh", "-c", "cat; echo two >&2; exit 7"}, Stdin: strings.NewReader("one\n"), Stdout: &out, Stderr: &errs,
		})
		if err != nil || code != 7 || out.String() != "one\n" || errs.String() != "two\n" {
			t.Errorf("%s: got %d, %v, stdout %q, stderr %q, want 7, one and two", name, code, err, out.String(), errs.String())
		}
	})
}

// endless is input without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// broken is an output whose reader is gone.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestExecUnread: a command that leaves input unread ends, and so does one whose output is not read.
func TestExecUnread(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormJob, "sleep 1000", nil)
	s.waitRunning(id)
	s.eachProtocol(func(name string, b *Backend) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var out, errs bytes.Buffer
		code, err := b.Exec(ctx, id, spec.Replica{Role: "r"}, backend.Command{
			Args: []string{"sh", "-c", "head -c 3 | wc -c; echo two >&2; exit 7"}, Stdin: endless{}, Stdout: &out, Stderr: &errs,
		})
		if err != nil || code != 7 || out.String() != "3\n" || errs.String() != "two\n" {
			t.Errorf("%s: got %d, %v, stdout %q, stderr %q, want 7, 3 and two", name, code, err, out.String(), errs.String())
		}
		if _, err := b.Exec(ctx, id, spec.Replica{Role: "r"}, backend.Command{Args: []string{"yes"}, Stdout: broken{}, Stderr: io.Discard}); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%s: output that is not read: got %v, want EPIPE", name, err)
		}
	})
}

// TestExecEnded: a container that has ended while its pod runs is not entered.
func TestExecEnded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	app := script("until [ -e /tmp/end ]; do sleep 0.1; done")
	app.Metadata = map[string]any{"kubernetes": map[string]any{"spec": map[string]any{
		"terminationGracePeriodSeconds": 1,
		"containers":                    []any{map[string]any{"name": "side", "image": clustertest.Image, "command": []any{"sleep", "1000"}}},
	}}}
	p := s.planOf("one-1", app, map[string]any{"gang": string(manifest.FormJob), "reserved_millicpu": 1000})
	if err := s.Submit(s.Context(), p); err != nil {
		t.Fatal(err)
	}
	s.waitRunning(p.ID)
	run := func(ctx context.Context) (int, error) {
		return s.Exec(ctx, p.ID, spec.Replica{Role: "r"}, backend.Command{Args: []string{"touch", "/tmp/end"}, Stdout: io.Discard, Stderr: io.Discard})
	}
	s.Eventually(t, "the container has ended", func(ctx context.Context) (bool, error) {
		_, err := run(ctx)
		return errors.Is(err, backend.ErrNotRunning), err
	})
	if _, err := run(t.Context()); err == nil || !strings.Contains(err.Error(), "container r-0 of pod ") || !strings.HasSuffix(err.Error(), " has ended") {
		t.Errorf("got %v, want that the container has ended", err)
	}
}

// TestForwardWays: ports are reached by both protocols.
func TestForwardWays(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormJob, "while :; do echo pong | nc -l -p 7000; done", nil)
	s.waitRunning(id)
	s.eachProtocol(func(name string, b *Backend) {
		s.Eventually(s, name+" reaches the port", func(ctx context.Context) (bool, error) { // nc listens only between connections
			c, err := b.DialPort(ctx, id, spec.Replica{Role: "r"}, 7000)
			if err != nil {
				return false, err
			}
			defer c.Close()
			got, err := io.ReadAll(c)
			return string(got) == "pong\n", err
		})
	})
}

// TestWriteFilesFails: an archive that is larger than what the node buffers, and cannot be extracted,
// is an error.
func TestWriteFilesFails(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormJob, "sleep 1000", nil)
	s.waitRunning(id)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err := w.WriteHeader(&tar.Header{Name: "f", Mode: 0o600, Size: 1 << 20})
	_, werr := w.Write(make([]byte, 1<<20))
	if err = errors.Join(err, werr, w.Close()); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"/no/folder": fs.ErrNotExist.Error(), "/proc": "/proc: "} {
		err := s.Capabilities().Files.WriteFiles(s.Context(), id, spec.Replica{Role: "r"}, dir, bytes.NewReader(archive.Bytes()))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", dir, err, want)
		}
	}
}

// TestExecRights: users with `create` on pods/exec can run commands, others get one line that
// names the right.
func TestExecRights(t *testing.T) {
	t.Parallel()
	const read = `{apiGroups: ["", batch], resources: [pods, jobs], verbs: [get, list, watch]}`
	for rules, want := range map[string]string{
		read: "pods/exec",
		read + `, {apiGroups: [""], resources: [pods/exec], verbs: [create]}`: "",
	} {
		s := newSite(t)
		id := s.submitted(manifest.FormJob, "sleep 1000", nil)
		s.waitRunning(id)
		user := s.as(s.User(t, s.namespace, rules))
		if _, err := user.DialPort(t.Context(), id, spec.Replica{Role: "r"}, 7000); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "pods/portforward") {
			t.Errorf("port-forward: got %v, want fs.ErrPermission with the right", err)
		}
		code, err := user.Exec(t.Context(), id, spec.Replica{Role: "r"}, backend.Command{Args: []string{"sh", "-c", "exit 3"}, Stdout: io.Discard, Stderr: io.Discard})
		if want == "" && (err != nil || code != 3) || want != "" && (!errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: got %d, %v, want one line with %q, or exit code 3", rules, code, err, want)
		}
	}
}

// through returns a kubeconfig of a proxy that forwards HTTP/1.1 and its upgrades, except those
// that refuse selects.
func (s *site) through(refuse func(*http.Request) bool) string {
	s.Helper()
	to, err := url.Parse(s.Config.Host)
	if err != nil {
		s.Fatal(err)
	}
	config := rest.CopyConfig(s.Config)
	config.NextProtos = []string{"http/1.1"}
	transport, err := rest.TransportFor(config)
	if err != nil {
		s.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: transport, FlushInterval: -1}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refuse(r) {
			http.Error(w, "no WebSockets here", http.StatusForbidden)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	s.Cleanup(server.Close)
	return s.Write(s, func(c *api.Cluster, u *api.AuthInfo, _ *api.Context) {
		*c, *u = api.Cluster{Server: server.URL}, api.AuthInfo{}
	})
}

// TestTerminal: in every form, the program has a terminal with the size of the client; output from
// before the client came is shown once; after the end, a client sees all of it.
func TestTerminal(t *testing.T) {
	t.Parallel()
	for _, gang := range manifest.Forms {
		t.Run(string(gang), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			id := s.submitted(gang, `echo first; until [ "$(stty size)" = "31 91" ]; do sleep 0.1; done; echo sized; read line; echo "got $line"; exit 5`, &backend.TerminalSize{Rows: 24, Cols: 80})
			c := s.terminal(id)
			s.readUntil(c, "first\r\n")
			if err := c.Resize(backend.TerminalSize{Rows: 31, Cols: 91}); err != nil {
				t.Fatal(err)
			}
			shown := s.readUntil(c, "sized\r\n")
			if _, err := c.Write([]byte("typed\r")); err != nil {
				t.Fatal(err)
			}
			shown += s.readUntil(c, "")
			if !strings.Contains(shown, "got typed\r\n") || strings.Contains(shown, "first") {
				t.Errorf("got %q, want the rest of the output once", shown)
			}
			if status, err := s.Wait(t.Context(), id); err != nil || status.ExitCode == nil || *status.ExitCode != 5 {
				t.Errorf("got %+v, %v, want exit code 5", status, err)
			}
			if shown := s.readUntil(s.terminal(id), ""); gang != manifest.FormVolcano && (!strings.Contains(shown, "first\r\n") || !strings.HasSuffix(shown, "got typed\r\n")) {
				t.Errorf("after the end: got %q, want the whole output", shown)
			}
		})
	}
}

// TestTerminalRights: without the right to attach, a client gets one line that names it; the app
// runs on.
func TestTerminalRights(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormJob, "echo first; sleep 1000", &backend.TerminalSize{Rows: 24, Cols: 80})
	s.waitRunning(id)
	user := s.as(s.User(t, s.namespace, `{apiGroups: ["", batch], resources: [pods, jobs], verbs: [get, list, watch]}`))
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute) // a busy node answers late
	defer cancel()
	c, err := user.OpenTerminal(ctx, id, backend.TerminalOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for err == nil {
		_, err = c.Next(ctx)
	}
	if !errors.Is(err, kube.ErrForbidden) || !strings.Contains(err.Error(), "may not create pods/attach") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line with the right", err)
	}
}

func (s *site) terminal(id string) backend.Terminal {
	s.Helper()
	c, err := s.OpenTerminal(s.Context(), id, backend.TerminalOptions{All: true})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.Close() })
	return c
}

// readUntil reads a terminal until its output contains a text, or to its end for "".
func (s *site) readUntil(c backend.Terminal, text string) string {
	s.Helper()
	return backendtest.ReadUntil(s.Context(), s, c, text)
}

// TestNoTerminal: an app that was started without a terminal has none.
func TestNoTerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submitted(manifest.FormJob, "sleep 1000", nil)
	if _, err := s.OpenTerminal(t.Context(), id, backend.TerminalOptions{}); !errors.Is(err, backend.ErrUnsupported) || !strings.Contains(err.Error(), "not started with --tty") {
		t.Errorf("got %v, want ErrUnsupported", err)
	}
}
