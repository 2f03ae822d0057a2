//go:build unix

package docker

import (
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"torchx/runtime/backend"
	"torchx/test/enginetest"
)

// oldEngine returns the address of a server that answers as Docker 1.12 does.
func oldEngine(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "old") // a socket's path has to be short
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	must(t, err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.24")
	})}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return "unix://" + l.Addr().String()
}

// diagnose returns all checks of the doctor in an environment, and the last one.
func diagnose(t *testing.T, environ ...string) (all []backend.Check, last backend.Check) {
	t.Helper()
	b, err := New(Config{Home: t.TempDir(), Exe: os.Args[0], Environ: append([]string{"HOME=" + t.TempDir()}, environ...)})
	must(t, err)
	defer b.Close()
	all = b.Doctor(t.Context())
	return all, all[len(all)-1]
}

func TestDoctorWithoutEngine(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	must(t, os.WriteFile(filepath.Join(config, "config.json"), []byte(`{"currentContext": "lab"}`), 0o600))
	meta := filepath.Join(config, "contexts", "meta", fmt.Sprintf("%x", sha256.Sum256([]byte("lab"))))
	must(t, os.MkdirAll(meta, 0o700))
	must(t, os.WriteFile(filepath.Join(meta, "meta.json"), []byte(`{"Endpoints": {"docker": {"Host": "unix:///no/such"}}}`), 0o600))
	for _, test := range []struct {
		environ   []string
		endpoint  string // in the first check; "": not checked
		text, fix string
	}{
		{[]string{"DOCKER_HOST=unix:///no/such"}, "unix:///no/such (DOCKER_HOST)", "no Docker engine answers at unix:///no/such (DOCKER_HOST)", "start it, or select another"},
		{[]string{"DOCKER_CONFIG=" + config}, "unix:///no/such (context lab)", "no Docker engine answers at unix:///no/such (context lab)", "docker context use"},
		{[]string{"DOCKER_CONTEXT=nosuch"}, "", `docker context "nosuch" (from DOCKER_CONTEXT) does not exist: see`, ""},
		{[]string{"DOCKER_HOST=" + oldEngine(t)}, "(DOCKER_HOST)", `too old: its API is "1.24", torchx needs 1.40`, "upgrade Docker"},
		{[]string{"DOCKER_HOST=ssh://x"}, "ssh://x (DOCKER_HOST)", "engine ssh://x (DOCKER_HOST): ssh:", "check that `ssh x docker version` works"},
	} {
		all, last := diagnose(t, test.environ...)
		if last.Level != backend.LevelFailure || !strings.Contains(last.Text, test.text) || !strings.Contains(last.Fix, test.fix) {
			t.Errorf("%q: %+v", test.environ, last)
		}
		if test.endpoint != "" && !strings.Contains(all[0].Text, test.endpoint) {
			t.Errorf("%q: %+v", test.environ, all[0])
		}
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	needEngine(t)
	all, _ := diagnose(t, "DOCKER_HOST="+real.Host)
	names := ""
	for _, c := range all {
		names += " " + c.Name
		if c.Level == backend.LevelFailure || (c.Level == backend.LevelOK) != (c.Fix == "") {
			t.Errorf("got %+v, want an OK check without a fix, or a warning with one", c)
		}
	}
	engine := "Docker "
	if enginetest.Podman() {
		engine = "Podman "
	}
	if names != " endpoint engine limits restarts gpus" || !strings.HasPrefix(all[1].Text, engine) || !strings.Contains(all[1].Text, ", API 1.") {
		t.Errorf("got %+v, want five checks, and %sand the API of the engine", all, engine)
	}
}
