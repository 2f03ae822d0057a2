//go:build unix

package docker

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"torchx/backends/logcopy"
	"torchx/runtime/logstore"
)

func TestFindEndpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("config.json", `{"currentContext": "far"}`)
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte("far")))
	write("contexts/meta/"+sum+"/meta.json", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376","SkipTLSVerify":false}}}`)
	write("contexts/tls/"+sum+"/docker/ca.pem", "x")
	tests := []struct {
		name      string
		env       []string
		host, why string
		certs     bool
		err       string
	}{
		{"DOCKER_HOST wins", []string{"DOCKER_HOST=tcp://a:1", "DOCKER_CONTEXT=far"}, "tcp://a:1", "DOCKER_HOST", false, ""},
		{"the current context", nil, "tcp://far:2376", "context far", true, ""},
		{"DOCKER_CONTEXT", []string{"DOCKER_CONTEXT=default"}, "unix:///var/run/docker.sock", "default", false, ""},
		{"a context that does not exist", []string{"DOCKER_CONTEXT=none"}, "", "", false, `docker context "none" (from DOCKER_CONTEXT) does not exist`},
	}
	for _, test := range tests {
		e, err := findEndpoint(lookup(append(test.env, "DOCKER_CONFIG="+dir)))
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%s: error %v", test.name, err)
			}
			continue
		}
		if err != nil || e.Host != test.host || e.Source != test.why || (e.Certs != "") != test.certs {
			t.Errorf("%s: %+v, %v", test.name, e, err)
		}
		agent, err := findEndpoint(lookup(e.environ()))
		if err != nil || agent.Host != e.Host || agent.Certs != e.Certs || agent.Verify != e.Verify {
			t.Errorf("%s: got %+v, %v from the agent's environment, want %+v", test.name, agent, err, e)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	chosen := endpoint{Host: "unix:///run/x.sock", Source: "DOCKER_HOST"}
	standard := endpoint{Host: "unix:///var/run/docker.sock", Source: "default"}
	for want, err := range map[string]error{
		"permission denied on the Docker socket": chosen.explain(syscall.EACCES),
		"no Docker engine answers at":            chosen.explain(syscall.ECONNREFUSED),
		"Docker":                                 standard.explain(syscall.ENOENT),
		"too old":                                chosen.explain(errors.New("the engine is too old")),
	} {
		if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// An engine's error about a mistake becomes its remedy.
func TestExplained(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"container create: container-init binary not found on the host: stat /usr/libexec/podman/catatonit: no such file": "Podman has no init for containers (container-init): install catatonit on its machine, or use -cfg init=false",
		"Error response from daemon: something\n else":                                                                    "something else",
	} {
		if got := explained(errors.New(text)).Error(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func frame(stream byte, text string) []byte {
	b := make([]byte, frameHeader, frameHeader+len(text))
	b[0] = stream
	binary.BigEndian.PutUint32(b[4:], uint32(len(text)))
	return append(b, text...)
}

func TestLogStream(t *testing.T) {
	t.Parallel()
	var in bytes.Buffer
	in.Write(frame(frameStdout, "2026-01-02T03:04:05.000000006Z one\n"))
	in.Write(frame(frameStderr, "2026-01-02T03:04:05.700000000Z two"))
	in.Write(frame(frameStdout, "2026-01-02T03:04:06.000000000Z \n"))
	es := newLogStream(io.NopCloser(&in), true)
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, want := range []logcopy.Entry{
		{Stream: logstore.Stdout, Time: base.Add(6), Data: []byte("one\n"), Last: true},
		{Stream: logstore.Stderr, Time: base.Add(700 * time.Millisecond), Data: []byte("two")},
		{Stream: logstore.Stdout, Time: base.Add(time.Second), Data: []byte("\n"), Last: true},
	} {
		got, err := es.Next()
		if err != nil || got.Stream != want.Stream || got.Last != want.Last || !got.Time.Equal(want.Time) || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("entry %d: got %+v, %v, want %+v", i, got, err, want)
		}
	}
	if _, err := es.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: got %v, want EOF", err)
	}
	for _, bad := range [][]byte{
		[]byte("plain text without a frame"), frame(frameStdout, "no time"), frame(frameError, "engine broke"),
		frame(frameStdout, "2026-01-02T03:04:05.00000000xZ x"), frame(frameStdout, "2026-01-02T03:04:05.000000006Z cut")[:20],
	} {
		if _, err := newLogStream(io.NopCloser(bytes.NewReader(bad)), true).Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%q: got error %v, want a format error", bad, err)
		}
	}
}

func TestAttemptOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"0": "r/0 0 true", "x": "/0 0 false"} {
		r, n, ok := attemptOf(map[string]string{LabelRole: "r", LabelReplica: text})
		if got := fmt.Sprintf("%s/%d %d %v", r.Role, r.ID, n, ok); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
