//go:build unix

package image

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/client"
	"github.com/google/go-containerregistry/pkg/registry"

	"torchx/runtime/backend"
	"torchx/test/enginetest"
)

// Registries on the loopback interface of the engine's network. The second requires a login.
const (
	openRegistry   = "127.0.0.1:5000"
	closedRegistry = "127.0.0.1:5001"
	user, password = "ann", "s3cret"
)

// serveVariable makes the test program serve the registries. It is the path of a file
// that is created when they are ready.
const serveVariable = "TORCHX_TEST_REGISTRIES"

const testImage = enginetest.Image

func TestMain(m *testing.M) {
	if ready := os.Getenv(serveVariable); ready != "" {
		fmt.Fprintln(os.Stderr, serveRegistries(ready))
		os.Exit(1)
	}
	code := m.Run()
	if engine.engine != nil {
		if err := engine.engine.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

func serveRegistries(ready string) error {
	locked := registry.New()
	first, err := net.Listen("tcp", openRegistry)
	if err != nil {
		return err
	}
	second, err := net.Listen("tcp", closedRegistry)
	if err != nil {
		return err
	}
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		return err
	}
	go http.Serve(first, registry.New())
	return http.Serve(second, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != user || p != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		locked.ServeHTTP(w, r)
	}))
}

// engine is the engine of all tests in this package.
var engine = struct {
	once   sync.Once
	err    error
	engine *enginetest.Engine
}{}

// needEngine returns the client of the engine.
func needEngine(t *testing.T) *client.Client {
	t.Helper()
	engine.once.Do(func() {
		engine.engine, engine.err = enginetest.Start(enginetest.Options{})
		if engine.err == nil {
			engine.err = startRegistries(engine.engine)
		}
	})
	if engine.err != nil {
		enginetest.Missing(t, engine.err)
	}
	return engine.engine.Client
}

func startRegistries(e *enginetest.Engine) error {
	dir, err := os.MkdirTemp("", "torchx-registries-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ready := filepath.Join(dir, "ready")
	if _, err := e.Run("env", serveVariable+"="+ready, os.Args[0]); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if _, err = os.Stat(ready); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

// remove removes an image from the engine.
func remove(t *testing.T, c *client.Client, ref string) {
	t.Helper()
	_, err := c.ImageRemove(t.Context(), ref, image.RemoveOptions{})
	if has, _ := Has(t.Context(), c, ref); has {
		t.Fatalf("%s still exists: %v", ref, err)
	}
}

// recorder collects the steps of a progress.
type recorder struct {
	mu    sync.Mutex
	steps []backend.Step
}

func (s *recorder) tell(step backend.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, step)
}

// output returns the output of builds.
func (s *recorder) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, step := range s.steps {
		if step.Output != "" {
			b.WriteString(step.Output + "\n")
		}
	}
	return b.String()
}

// ended returns how many steps with a name ended, and how many of those failed.
func (s *recorder) ended(name string) (n, failed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, step := range s.steps {
		if step.Name == name && step.Ended {
			n++
			if step.Failed {
				failed++
			}
		}
	}
	return n, failed
}

// write creates files in a folder. A name that ends in / is an empty folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// runIn returns the output of a command in a container of the image.
func runIn(t *testing.T, ref string, args ...string) string {
	t.Helper()
	c := exec.Command("docker", append([]string{"-H", engine.engine.Client.DaemonHost(), "run", "--rm", "--network=none", ref}, args...)...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("docker run %s: %v\n%s", ref, err, out)
	}
	return string(out)
}
